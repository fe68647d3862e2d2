//! Declares the Lab from the list of its experiments.

/// Declares the Lab's tabs, their state, their commands and their saved settings.
///
/// Each line of the list names a tab, the module of its experiment, and the [`Experiment`] in that
/// module. The module also has the `TAB` of its page.
///
/// [`Experiment`]: super::Experiment
macro_rules! experiments {
    ($($(#[$meta:meta])* $variant:ident, $module:ident: $experiment:ident;)*) => {
        /// A tab of the Lab page.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub enum LabTab {
            $($(#[$meta])* $variant,)*
        }

        impl LabTab {
            /// All tabs, from left to right.
            pub const ALL: [Self; [$(stringify!($variant),)*].len()] = [$(Self::$variant,)*];

            /// Returns the label of the tab.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => <$module::$experiment as Experiment>::NAME,)*
                }
            }

            /// Returns the group of tabs that it belongs to.
            pub const fn group(self) -> Group {
                match self {
                    $(Self::$variant => <$module::$experiment as Experiment>::GROUP,)*
                }
            }

            /// Returns whether the history keeps its results.
            pub const fn keeps_results(self) -> bool {
                match self {
                    $(Self::$variant => <$module::$experiment as Experiment>::KEEPS_RESULTS,)*
                }
            }

            /// Returns whether its job finds its results.
            const fn job_finds_results(self) -> bool {
                match self {
                    $(Self::$variant => <$module::$experiment as Experiment>::JOB_FINDS_RESULTS,)*
                }
            }

            /// Returns the name by which files know the experiment.
            pub const fn key(self) -> &'static str {
                match self {
                    $(Self::$variant => stringify!($module),)*
                }
            }

            /// Returns the title of the dialog that chooses a file for the tab.
            pub const fn file_title(self) -> &'static str {
                match self {
                    $(Self::$variant => <$module::$experiment as Experiment>::FILE_TITLE,)*
                }
            }

            /// Returns what the tab consists of.
            const fn page(self) -> frame::Tab {
                match self {
                    $(Self::$variant => $module::TAB,)*
                }
            }

            /// Returns why what made its results can't run again now, once their models are open.
            fn again_refusal(self, state: &AppState) -> Option<String> {
                match self {
                    $(Self::$variant => <$module::$experiment as Experiment>::again_refusal(state),)*
                }
            }

            /// Runs again what made its results, whose models are open.
            fn run_again(self, state: &mut AppState) -> Vec<Effect> {
                match self {
                    $(Self::$variant => <$module::$experiment as Experiment>::run_again(state),)*
                }
            }

            /// Computes what the tab shows while `has_time` returns true. Returns whether it is
            /// complete.
            pub(crate) fn advance(
                self,
                state: &mut AppState,
                has_time: &mut dyn FnMut() -> bool,
            ) -> bool {
                match self {
                    $(Self::$variant => <$module::$experiment as Experiment>::advance(state, has_time),)*
                }
            }
        }

        /// The results of an experiment as the history keeps them, by its tab.
        #[derive(Debug, Clone, PartialEq)]
        pub enum LabResult {
            $($variant(Box<<$module::$experiment as Experiment>::Result>),)*
        }

        impl LabResult {
            /// Renders the results as JSON.
            pub fn to_json(&self) -> serde_json::Result<Vec<u8>> {
                match self {
                    $(Self::$variant(result) => serde_json::to_vec(result),)*
                }
            }

            /// Reads the results of the experiment with this key.
            pub fn parse(experiment: &str, json: &[u8]) -> Result<Self, String> {
                $(
                    if experiment == stringify!($module) {
                        let result = serde_json::from_slice(json);
                        let result = result.map_err(|_error| {
                            "it is damaged, or another version of Quartet saved it".to_owned()
                        });
                        return result.map(|result| Self::$variant(Box::new(result)));
                    }
                )*
                Err("it is of an experiment that this version of Quartet lacks".to_owned())
            }

            /// Returns the tab that shows them.
            pub const fn tab(&self) -> LabTab {
                match self {
                    $(Self::$variant(_) => LabTab::$variant,)*
                }
            }
        }

        /// What the user can do on the Lab page.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum LabCommand {
            /// Run the experiment of a tab as it is set up.
            Run(LabTab),
            /// Run again what made the results from the history, whatever the form says.
            RunAgain(LabTab),
            /// Stop the experiment of a tab. What was found stays.
            Stop(LabTab),
            /// Take the results of a tab off the screen.
            Close(LabTab),
            /// Keep what a tab has found without a job.
            Keep(LabTab),
            $(
                /// Do something with this experiment.
                $variant(<$module::$experiment as Experiment>::Command),
            )*
        }

        impl LabCommand {
            /// Applies the command.
            pub(crate) fn apply(self, state: &mut AppState) -> Vec<Effect> {
                match self {
                    Self::Close(tab) => {
                        state.lab.close(tab);
                        Vec::new()
                    }
                    Self::Keep(tab) => state.keep_result(tab).into_iter().collect(),
                    Self::RunAgain(tab) => state.run_again(tab),
                    $(
                        Self::Run(LabTab::$variant) => <$module::$experiment as Experiment>::start(state),
                        Self::Stop(LabTab::$variant) => Experiment::stop(&mut state.lab.$module),
                        Self::$variant(command) => <$module::$experiment as Experiment>::apply(state, command),
                    )*
                }
            }
        }

        /// The Lab page.
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct Lab {
            pub tab: LabTab,
            /// The results on screen that are from the history.
            pub kept: Option<KeptResult>,
            /// When the results of each tab were found, in seconds since 1970.
            finished_at: [Option<u64>; LabTab::ALL.len()],
            $(pub $module: $module::$experiment,)*
        }

        impl Lab {
            /// Returns the run of a tab, if the engine works on one.
            fn run_of(&self, tab: LabTab) -> Option<&dyn JobRun> {
                match tab {
                    $(LabTab::$variant => Experiment::run(&self.$module),)*
                }
            }

            /// Returns whether the experiment of a tab is running.
            pub fn is_running(&self, tab: LabTab) -> bool {
                self.run_of(tab).is_some_and(|run| run.status().is_running())
            }

            /// Returns what the history keeps of a tab's results, and what it says about them.
            pub fn result(&self, tab: LabTab) -> Option<(ResultFacts, LabResult)> {
                match tab {
                    $(LabTab::$variant => {
                        let (facts, result) = Experiment::result(&self.$module)?;
                        Some((facts, LabResult::$variant(Box::new(result))))
                    })*
                }
            }

            /// Returns the models that made the results of a tab.
            fn made_by(&self, tab: LabTab) -> Option<MadeBy<'_>> {
                match tab {
                    $(LabTab::$variant => Experiment::made_by(&self.$module),)*
                }
            }

            /// Returns whether a tab has results that no job has found, and that the history lacks.
            pub(crate) fn has_new_result(&self, tab: LabTab) -> bool {
                match tab {
                    $(LabTab::$variant => Experiment::has_new_result(&self.$module),)*
                }
            }

            /// Notes that the results of a tab are kept now. Returns the time that names their file.
            fn note_kept(&mut self, tab: LabTab, now: u64) -> u64 {
                match tab {
                    $(LabTab::$variant => Experiment::note_kept(&mut self.$module, now),)*
                }
            }

            /// Shows results from the history in their tab, unless they contradict themselves.
            fn show(&mut self, result: LabResult) -> Result<(), String> {
                match result {
                    $(LabResult::$variant(result) => Experiment::show(&mut self.$module, *result),)*
                }
            }

            /// Takes the results of a tab off the screen.
            fn close(&mut self, tab: LabTab) {
                match tab {
                    $(LabTab::$variant => Experiment::close(&mut self.$module),)*
                }
                self.forget_kept(tab);
            }

            /// Returns all runs.
            pub(crate) fn runs(&self) -> impl Iterator<Item = &dyn JobRun> {
                [$(Experiment::run(&self.$module),)*].into_iter().flatten()
            }

            /// Returns all runs that the engine works on.
            pub(crate) fn runs_mut(&mut self) -> impl Iterator<Item = &mut dyn JobRun> {
                [$(Experiment::run_mut(&mut self.$module),)*].into_iter().flatten()
            }

            /// Uses a file that the user chose for the experiment of a tab.
            pub(crate) fn use_path(&mut self, tab: LabTab, path: PathBuf) {
                match tab {
                    $(LabTab::$variant => Experiment::use_path(&mut self.$module, path),)*
                }
            }

            /// Uses a text in place of such a file, and shows the tab.
            pub(crate) fn use_text(&mut self, tab: LabTab, text: String) {
                self.tab = tab;
                match tab {
                    $(LabTab::$variant => Experiment::use_text(&mut self.$module, text),)*
                }
            }
        }

        /// What the forms of the Lab keep across restarts: the parts that do not depend on the
        /// panes. Missing fields take their defaults.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct LabSettings {
            $(
                #[serde(flatten)]
                pub $module: <$module::$experiment as Experiment>::Settings,
            )*
        }

        impl From<&Lab> for LabSettings {
            fn from(lab: &Lab) -> Self {
                Self {
                    $($module: Experiment::settings(&lab.$module),)*
                }
            }
        }

        impl LabSettings {
            /// Returns a Lab with these forms and no results.
            pub(crate) fn lab(self) -> Lab {
                Lab {
                    tab: LabTab::default(),
                    kept: None,
                    finished_at: [None; LabTab::ALL.len()],
                    $($module: Experiment::restored(self.$module),)*
                }
            }
        }
    };
}

pub(super) use experiments;
