//! The macro that turns the list of actions into [`Action`](super::Action).

/// Returns the first of its arguments: what an entry says, or else the default.
macro_rules! first {
    ($first:expr $(, $default:expr)?) => {
        $first
    };
}

/// Declares the actions. Each entry says all there is to know about one:
/// - `name`: an imperative, for menus and the palette;
/// - `place`: where it belongs, as shown after its name;
/// - `keys`: what triggers it, the usual keys first;
/// - `help`: its row in the table of keys;
/// - `page`: the page that it belongs to, if it has an effect only there;
/// - `listed`: what the palette lists for it, by default the action itself;
/// - `command`: what it runs, or why it is not possible now.
macro_rules! actions {
    ($(
        $(#[$doc:meta])*
        $action:ident $(($($value:ident: $type:ty),+))? {
            name: |$named:pat_param| $name:expr,
            $(place: $place:expr,)?
            $(keys: $keys:expr,)?
            $(help: $help:expr,)?
            $(page: $page:expr,)?
            $(listed: |$shown:pat_param| $listed:expr,)?
            command: |$asked:pat_param| $command:expr,
        }
    )*) => {
        /// Something the user can do, wherever it is offered.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Action {
            $($(#[$doc])* $action $(($($type),+))?,)*
        }

        #[allow(unused_variables, reason = "not every part of an entry depends on the values")]
        impl Action {
            /// Returns the keys that trigger it, the usual ones first. Some work only while no field
            /// has focus.
            pub fn shortcuts(self) -> Vec<Shortcut> {
                match self {
                    $(Self::$action $(($($value),+))? => first!($($keys,)? Vec::new()),)*
                }
            }

            /// Returns where the action belongs, as shown after its name; may be empty.
            pub fn place(self) -> &'static str {
                match self {
                    $(Self::$action $(($($value),+))? => first!($($place,)? ""),)*
                }
            }

            /// Returns what its keys do, for the table of keys. Several actions can share a row.
            pub(super) const fn help(self) -> Option<&'static str> {
                match self {
                    $(Self::$action $(($($value),+))? => first!($(Some($help),)? None),)*
                }
            }

            /// Returns the page that the action belongs to, if it has an effect only there.
            pub(in crate::state) const fn page(self) -> Option<Page> {
                match self {
                    $(Self::$action $(($($value),+))? => first!($(Some($page),)? None),)*
                }
            }
        }

        #[allow(unused_variables, reason = "not every part of an entry depends on the values")]
        impl Action {
            /// Returns all actions, in the order of the palette: those of a run first.
            pub fn all(state: &AppState) -> Vec<Self> {
                let mut actions: Vec<Self> = Vec::new();
                $(
                    actions.extend(first!(
                        $({
                            let $shown = state;
                            $listed
                        },)?
                        [Self::$action]
                    ));
                )*
                actions
            }

            /// Returns its name: an imperative.
            pub fn name(self, state: &AppState) -> String {
                match self {
                    $(Self::$action $(($($value),+))? => {
                        let $named = state;
                        String::from($name)
                    })*
                }
            }

            /// Returns the command that it runs, or why it is not possible now.
            pub fn command(self, state: &AppState) -> Result<Command, String> {
                match self {
                    $(Self::$action $(($($value),+))? => {
                        let $asked = state;
                        $command
                    })*
                }
            }
        }
    };
}

pub(super) use {actions, first};
