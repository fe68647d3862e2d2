; The Windows installer, for Inno Setup 6. .ci/package-windows.ps1 sets Version and Suffix.

[Setup]
AppId=org.quartet.Quartet
AppName=Quartet
AppVersion={#Version}
AppPublisher=The Quartet project
DefaultDirName={autopf}\Quartet
DisableProgramGroupPage=yes
PrivilegesRequired=lowest
PrivilegesRequiredOverridesAllowed=dialog
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
ChangesAssociations=yes
LicenseFile=..\licenses\MIT.txt
SetupIconFile=quartet.ico
UninstallDisplayIcon={app}\quartet-window.exe
OutputDir=..\..\target\packages
OutputBaseFilename=Quartet-{#Version}-x86_64{#Suffix}-setup
Compression=lzma2
SolidCompression=yes

[Files]
; The window, which opens no console, and the command line, or a launcher of each and both builds.
Source: "..\..\target\windows-programs\*"; DestDir: "{app}"; Flags: recursesubdirs
Source: "..\..\target\system-files\licenses.txt"; DestDir: "{app}"
Source: "..\model\README.md"; DestDir: "{app}"; DestName: "model-card.md"

[Icons]
Name: "{autoprograms}\Quartet"; Filename: "{app}\quartet-window.exe"

[Registry]
Root: HKA; Subkey: "Software\Classes\.gguf\OpenWithProgids"; ValueType: string; ValueName: "Quartet.Model"; ValueData: ""; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\Quartet.Model"; ValueType: string; ValueData: "GGUF language model"; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\Quartet.Model\DefaultIcon"; ValueType: string; ValueData: "{app}\quartet-window.exe,0"
Root: HKA; Subkey: "Software\Classes\Quartet.Model\shell\open\command"; ValueType: string; ValueData: """{app}\quartet-window.exe"" ""%1"""
; Windows looks only at the last extension, so a run is offered for every JSON file.
Root: HKA; Subkey: "Software\Classes\.json\OpenWithProgids"; ValueType: string; ValueName: "Quartet.Run"; ValueData: ""; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\Quartet.Run"; ValueType: string; ValueData: "Quartet run"; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\Quartet.Run\DefaultIcon"; ValueType: string; ValueData: "{app}\quartet-window.exe,0"
Root: HKA; Subkey: "Software\Classes\Quartet.Run\shell\open\command"; ValueType: string; ValueData: """{app}\quartet-window.exe"" ""%1"""

[Run]
Filename: "{app}\quartet-window.exe"; Description: "Open Quartet"; Flags: nowait postinstall skipifsilent
