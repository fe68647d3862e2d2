//! The built-in lessons, in the order of the list.

use std::sync::{Arc, OnceLock};

use super::{Lesson, LessonProblem};

/// Embeds the lesson files with these names.
macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../../assets/lessons/", $name, ".toml")))),*]
    };
}

/// The files of the lessons, by their names.
const FILES: [(&str, &str); 22] = files![
    "loop",
    "pieces",
    "softmax",
    "temperature",
    "seeds",
    "greedy",
    "sampling",
    "cuts",
    "penalties",
    "choosing",
    "stopping",
    "human",
    "cost",
    "cache",
    "json",
    "drafts",
    "beams",
    "watermark",
    "tasks",
    "instruct",
    "fact",
    "chat-json",
];

/// Returns the built-in lessons. They are read once.
pub fn built_in() -> &'static [Arc<Lesson>] {
    static LESSONS: OnceLock<Vec<Arc<Lesson>>> = OnceLock::new();
    LESSONS.get_or_init(|| {
        // A test reads every file, so that none is left out here.
        let lessons = read_all().filter_map(|(_, lesson)| lesson.ok());
        lessons.map(Arc::new).collect()
    })
}

/// Reads all files, each with its name.
fn read_all() -> impl Iterator<Item = (&'static str, Result<Lesson, LessonProblem>)> {
    let files = FILES.into_iter();
    files.map(|(name, source)| (name, Lesson::from_toml(source)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{FILES, built_in, read_all};
    use crate::lessons::is_lesson_name;

    #[test]
    fn every_file_is_a_lesson_whose_id_is_the_file_name() {
        for (name, lesson) in read_all() {
            match lesson {
                Ok(lesson) => assert_eq!(lesson.id, name),
                Err(problem) => panic!("{name}.toml, {problem}"),
            }
        }
        let ids: BTreeSet<&str> = built_in().iter().map(|lesson| lesson.id.as_str()).collect();
        assert_eq!(ids.len(), FILES.len());
    }

    #[test]
    fn no_file_is_forgotten() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/lessons");
        let names = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let n_lessons = names.filter(|name| is_lesson_name(name.as_ref())).count();
        assert_eq!(n_lessons, FILES.len());
    }

    #[test]
    fn every_statement_has_a_step_that_shows_it() {
        let documentation = include_str!("../../../assets/docs/TEACHING.md");
        let (_, table) = documentation
            .split_once("| statement | lesson | step |")
            .unwrap();
        let rows: Vec<Vec<&str>> = table
            .lines()
            .filter(|line| line.contains('`'))
            .map(|line| line.split('|').map(str::trim).collect())
            .collect();
        let statements: BTreeSet<&str> = rows.iter().map(|row| row[1]).collect();
        assert_eq!((rows.len(), statements.len()), (30, 30));
        for row in rows {
            let id = row[2].trim_matches('`');
            let mut lessons = built_in().iter();
            let lesson = lessons.find(|lesson| lesson.id == id).unwrap();
            let step: usize = row[3].parse().unwrap();
            assert!((1..=lesson.steps.len()).contains(&step), "{row:?}");
        }
    }

    #[test]
    fn the_documents_list_every_lesson_with_its_minutes() {
        let readme = include_str!("../../../README.md");
        assert!(readme.contains(&format!("[{} lessons](", built_in().len())));
        let documentation = include_str!("../../../assets/docs/TEACHING.md");
        let mut minutes = [(0, 0); 2];
        for (number, lesson) in (1..).zip(built_in()) {
            let crate::lessons::Lesson { title, id, .. } = &**lesson;
            let heading = format!(
                "### {number}. {title} (`{id}`, {} minutes)\n",
                lesson.minutes
            );
            assert!(documentation.contains(&heading), "{heading}");
            let (n_lessons, n_minutes) = &mut minutes[usize::from(lesson.setup.chat)];
            *n_lessons += 1;
            *n_minutes += lesson.minutes;
        }
        let [(n_own, own), (n_chat, chat)] = minutes;
        let sums = format!(
            "The {n_own} lessons for the built-in model take about {own} minutes, and the {n_chat} \
             for a chat model about {chat}."
        );
        assert!(documentation.contains(&sums), "{sums}");
    }

    #[test]
    fn bits_count_from_the_lesson_that_explains_them() {
        let mut lessons = built_in().iter();
        let before = lessons.position(|lesson| lesson.id == "human").unwrap();
        for (index, lesson) in built_in().iter().enumerate() {
            assert_eq!(lesson.bits, index >= before, "{}", lesson.id);
        }
    }
}
