//! The form that adds a server, and the keys that were typed into it.

use super::AddedServer;
use crate::state::capitalize;
use crate::worker::{Key, KeySource, ServerKind, server_address};

/// The prefix that marks the name of an environment variable in the key field.
const VARIABLE: char = '$';

/// What was typed into the form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerForm {
    pub address: String,
    /// Empty for the first model that the server lists.
    pub model: String,
    /// The key itself, or `$NAME` for the environment variable that holds it.
    pub key: String,
    /// `None` to detect it.
    pub kind: Option<ServerKind>,
    /// How many log-probabilities to ask for at each token; `None` for the default.
    pub n_probs: Option<usize>,
    /// Why it can't be added, as a sentence.
    pub error: Option<String>,
}

impl ServerForm {
    /// Returns the form for a server that was added.
    pub(super) fn of(added: &AddedServer, key: Option<KeySource>) -> Self {
        Self {
            address: added.address.clone(),
            model: added.model.clone().unwrap_or_default(),
            key: match key {
                Some(KeySource::Variable(variable)) => format!("{VARIABLE}{variable}"),
                // A key that was typed is not shown again.
                Some(KeySource::Typed(_)) | None => String::new(),
            },
            kind: added.kind,
            n_probs: added.n_probs,
            error: None,
        }
    }

    /// Returns whether the key field holds the name of a variable, which is not a secret.
    pub fn names_variable(&self) -> bool {
        self.key.trim_start().starts_with(VARIABLE)
    }

    /// Returns the server that the form describes, or why it can't be added.
    pub(super) fn server(&self) -> Result<AddedServer, String> {
        let address = self.address.trim();
        if address.is_empty() {
            return Err("Enter the server’s address, such as http://127.0.0.1:8080".to_owned());
        }
        // An address that contains a key must not reach the settings.
        let address = server_address(address).map_err(|error| capitalize(&error.to_string()))?;
        let key = self.key.trim();
        let variable = key.strip_prefix(VARIABLE).map(str::trim);
        if variable == Some("") {
            return Err("Enter the name of the variable after $".to_owned());
        }
        let model = self.model.trim();
        Ok(AddedServer {
            address,
            model: (!model.is_empty()).then(|| model.to_owned()),
            kind: self.kind,
            key_variable: variable.unwrap_or_default().to_owned(),
            n_probs: self.n_probs,
        })
    }

    /// Returns the key, if the form holds one rather than the name of a variable.
    pub(super) fn typed_key(&self) -> Option<Key> {
        let key = self.key.trim();
        (!key.is_empty() && !self.names_variable()).then(|| Key::new(key))
    }
}

/// The keys that were typed, which are kept until the window closes and never written to disk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::state) struct TypedKeys {
    /// By the servers' addresses.
    keys: Vec<(String, Key)>,
}

impl TypedKeys {
    /// Keeps the key of a server in place of an earlier one.
    pub(super) fn keep(&mut self, added: &AddedServer, key: Option<Key>) {
        if let Some(key) = key {
            self.keys.retain(|(address, _)| *address != added.address);
            self.keys.push((added.address.clone(), key));
        }
    }

    /// Returns where the key of a server comes from, if it needs one.
    pub(super) fn of(&self, added: &AddedServer) -> Option<KeySource> {
        if !added.key_variable.is_empty() {
            return Some(KeySource::Variable(added.key_variable.clone()));
        }
        let mut keys = self.keys.iter();
        let typed = keys.find(|(address, _)| *address == added.address);
        typed.map(|(_, key)| KeySource::Typed(key.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::{ServerForm, TypedKeys};
    use crate::worker::KeySource;

    #[test]
    fn a_key_is_a_secret_or_the_name_of_a_variable() {
        let mut keys = TypedKeys::default();
        let mut form = ServerForm {
            address: " host:8000/ ".to_owned(),
            key: "sk-secret".to_owned(),
            ..ServerForm::default()
        };
        let typed = form.server().unwrap();
        assert_eq!(typed.address, "http://host:8000");
        assert_eq!(typed.key_variable, "");
        keys.keep(&typed, form.typed_key());
        assert!(matches!(keys.of(&typed), Some(KeySource::Typed(_))));
        assert_eq!(ServerForm::of(&typed, keys.of(&typed)).key, "");

        "$MY_KEY".clone_into(&mut form.key);
        let named = form.server().unwrap();
        assert_eq!(form.typed_key(), None);
        let variable = KeySource::Variable("MY_KEY".to_owned());
        assert_eq!(keys.of(&named), Some(variable));
        assert_eq!(ServerForm::of(&named, keys.of(&named)).key, "$MY_KEY");
        "$ ".clone_into(&mut form.key);
        form.server().unwrap_err();
        form.key.clear();
        "http://user:sk-secret@host".clone_into(&mut form.address);
        let error = form.server().unwrap_err();
        assert!(error.starts_with("Leave the key out"), "{error}");
    }
}
