//! Parameters in files, where their keys name them.

use super::Parameter;

impl From<Parameter> for String {
    fn from(parameter: Parameter) -> Self {
        parameter.key()
    }
}

impl TryFrom<String> for Parameter {
    type Error = String;

    fn try_from(key: String) -> Result<Self, String> {
        let mut all = Self::of_sweeps().into_iter();
        let found = all.find(|parameter| parameter.key() == key);
        found.ok_or_else(|| format!("there is no setting {key:?}"))
    }
}
