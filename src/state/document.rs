//! Files that can be saved. The state knows what a document is called and what is said if it can't
//! be saved; what renders it is in `ui::documents`, or in the folder of its experiment.

use std::any::Any;
use std::fmt::Debug;
use std::ops::Deref;
use std::sync::Arc;

use super::{PictureFormat, Plot};
use crate::export::ExportFormat;

/// A kind of document. Each is one type, whose value says which of its files is saved.
pub trait DocumentKind: Comparable + Debug + Send + Sync {
    /// Returns its name with the article, for use in a sentence: "the run".
    fn name(&self) -> &'static str;

    /// Returns the file name that the dialog suggests.
    fn file_name(&self) -> String;

    /// Returns what to say if it could not be saved.
    fn unsaved(&self) -> Unsaved;

    /// Returns whether it is a folder with several files.
    fn is_folder(&self) -> bool {
        false
    }
}

/// Why nothing is lost if a document could not be saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unsaved {
    /// "The run was not saved".
    pub title: &'static str,
    /// What became of its content: "Your texts are safe".
    pub kept: &'static str,
}

/// Compares values whose types are unknown.
pub trait Comparable: Any {
    /// Returns whether the other value has the same type and is equal.
    fn is_equal(&self, other: &dyn Any) -> bool;
}

impl<T: Any + PartialEq> Comparable for T {
    fn is_equal(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<T>() == Some(self)
    }
}

/// A document of any kind.
#[derive(Debug, Clone)]
pub struct Document(Arc<dyn DocumentKind>);

impl Document {
    /// Boxes a document.
    pub fn new(kind: impl DocumentKind) -> Self {
        Self(Arc::new(kind))
    }

    /// Returns the document if it is of this kind.
    pub fn get<T: DocumentKind>(&self) -> Option<&T> {
        let any: &dyn Any = &*self.0;
        any.downcast_ref()
    }
}

impl Deref for Document {
    type Target = dyn DocumentKind;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl PartialEq for Document {
    fn eq(&self, other: &Self) -> bool {
        (*self.0).is_equal(&*other.0)
    }
}

impl Eq for Document {}

/// The file format of futures or of a result of the Lab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultFormat {
    Picture(PictureFormat),
    /// The table.
    Csv,
}

impl ResultFormat {
    /// All formats, in menu order.
    pub const ALL: [Self; 4] = [
        Self::Picture(PictureFormat::Pdf),
        Self::Picture(PictureFormat::Svg),
        Self::Picture(PictureFormat::Png),
        Self::Csv,
    ];

    /// Returns the file extension, without the dot.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Picture(format) => format.extension(),
            Self::Csv => "csv",
        }
    }
}

/// Everything that was generated, in one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunDocument(pub ExportFormat);

const RUN_UNSAVED: Unsaved = Unsaved {
    title: "The run was not saved",
    kept: "Your texts are safe",
};

impl DocumentKind for RunDocument {
    fn name(&self) -> &'static str {
        "the run"
    }

    fn file_name(&self) -> String {
        match self.0 {
            ExportFormat::Json => "run.quartet.json".to_owned(),
            format => format!("quartet.{}", format.extension()),
        }
    }

    fn unsaved(&self) -> Unsaved {
        RUN_UNSAVED
    }
}

/// The chosen panes in every format with every plot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EverythingDocument {
    Folder,
    Archive,
}

impl DocumentKind for EverythingDocument {
    fn name(&self) -> &'static str {
        "everything"
    }

    fn file_name(&self) -> String {
        match self {
            Self::Folder => "quartet-run".to_owned(),
            Self::Archive => "quartet-run.zip".to_owned(),
        }
    }

    fn unsaved(&self) -> Unsaved {
        RUN_UNSAVED
    }

    fn is_folder(&self) -> bool {
        *self == Self::Folder
    }
}

/// A picture of what is on screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PictureDocument {
    pub plot: Plot,
    pub format: PictureFormat,
}

impl DocumentKind for PictureDocument {
    fn name(&self) -> &'static str {
        "the picture"
    }

    fn file_name(&self) -> String {
        let (plot, format) = (self.plot.file_word(), self.format.extension());
        format!("quartet-{plot}.{format}")
    }

    fn unsaved(&self) -> Unsaved {
        Unsaved {
            title: "The picture was not saved",
            kept: "Your texts are safe",
        }
    }
}

/// The user's own presets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PresetsDocument;

impl DocumentKind for PresetsDocument {
    fn name(&self) -> &'static str {
        "the presets"
    }

    fn file_name(&self) -> String {
        "quartet-presets.json".to_owned()
    }

    fn unsaved(&self) -> Unsaved {
        Unsaved {
            title: "The presets were not saved",
            kept: "Quartet still has them",
        }
    }
}

/// A new lesson with the window's current setup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LessonDocument;

impl DocumentKind for LessonDocument {
    fn name(&self) -> &'static str {
        "the lesson"
    }

    fn file_name(&self) -> String {
        "lesson.toml".to_owned()
    }

    fn unsaved(&self) -> Unsaved {
        Unsaved {
            title: "The lesson was not saved",
            kept: "The window is unchanged",
        }
    }
}

/// The predictions of all lessons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswersDocument;

impl DocumentKind for AnswersDocument {
    fn name(&self) -> &'static str {
        "the answers"
    }

    fn file_name(&self) -> String {
        "quartet-answers.csv".to_owned()
    }

    fn unsaved(&self) -> Unsaved {
        Unsaved {
            title: "The answers were not saved",
            kept: "Quartet still has them",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Document, LessonDocument, PresetsDocument, RunDocument};
    use crate::export::ExportFormat;

    #[test]
    fn documents_are_equal_if_their_kinds_and_formats_are() {
        let run = |format| Document::new(RunDocument(format));
        assert_eq!(run(ExportFormat::Json), run(ExportFormat::Json));
        assert_ne!(run(ExportFormat::Json), run(ExportFormat::Html));
        assert_ne!(
            Document::new(PresetsDocument),
            Document::new(LessonDocument)
        );
    }

    #[test]
    fn a_document_is_found_only_as_what_it_is() {
        let document = Document::new(RunDocument(ExportFormat::Html));
        let found = document.get::<RunDocument>();
        assert_eq!(found, Some(&RunDocument(ExportFormat::Html)));
        assert_eq!(document.get::<LessonDocument>(), None);
    }
}
