//! What a lesson does with the tasks, and what it reads of their curve.

use super::{EXAMPLES, PromptsTab, SweepRun, TaskSource, TaskView};
use crate::lab::prompts::{PromptShare, ShareEstimate};
use crate::lessons::TaskCurve;
use crate::state::RunStatus;

impl PromptsTab {
    /// Shows what the curve over temperature needs, for a list that comes with Quartet.
    pub(crate) fn prepare_curve_of(&mut self, list: &str) {
        let place = EXAMPLES
            .iter()
            .position(|example| stem(example.file) == list);
        *self = Self::default();
        self.view = TaskView::AnySetting;
        if let Some(place) = place {
            self.use_source(TaskSource::Example(place));
        }
    }

    /// Returns the curve on screen, which lessons read. `None` until it is complete, and if it is
    /// that of other tasks.
    pub(crate) fn task_curve(&self) -> Option<&(dyn TaskCurve + 'static)> {
        let run = self.complete_curve()?;
        let is_shown = *run.results.tasks() == *self.form.tasks().ok()?.tasks;
        is_shown.then_some(self)
    }

    fn complete_curve(&self) -> Option<&SweepRun> {
        let run = self.runs.sweep.as_ref()?;
        let is_curve = run.sweep.columns.is_none() && !run.reading.points.is_empty();
        (is_curve && run.status == RunStatus::Complete).then_some(run)
    }
}

impl TaskCurve for PromptsTab {
    fn list(&self) -> Option<&str> {
        match self.form.source {
            TaskSource::Example(index) => EXAMPLES.get(index).map(|example| stem(example.file)),
            TaskSource::File(_) | TaskSource::Typed => None,
        }
    }

    fn setting(&self) -> String {
        let run = self.complete_curve();
        run.map(|run| run.sweep.axis.parameter.key())
            .unwrap_or_default()
    }

    fn points(&self) -> Vec<(f64, f64)> {
        let run = self.complete_curve();
        let points = run.map(|run| run.reading.points.as_slice());
        let points = points.unwrap_or_default().iter();
        points
            .map(|point| (point.value, point.share.middle()))
            .collect()
    }

    fn ends(&self) -> Vec<(f64, f64)> {
        let Some(run) = self.complete_curve() else {
            return Vec::new();
        };
        let tasks = run.sweep.exact_tasks(&run.results).into_iter();
        let ends = tasks.filter_map(|task| {
            let points = run.sweep.task_points(&run.results, task);
            let (first, last) = (points.first()?, points.last()?);
            Some((first.share.middle(), last.share.middle()))
        });
        ends.collect()
    }

    fn interval(&self) -> Option<(f64, f64)> {
        let ends = self.ends().into_iter();
        let shares: Vec<PromptShare> = ends.map(|(first, _)| PromptShare::Exact(first)).collect();
        let interval = ShareEstimate::of(&shares)?.interval?;
        Some((interval.low, interval.high))
    }
}

/// Returns the name of a file without its extension.
fn stem(file: &str) -> &str {
    file.split('.').next().unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use super::super::{PromptsTab, TaskView};
    use crate::lessons::{TASK_LISTS, TaskCurve};

    #[test]
    fn every_list_of_a_lesson_exists_and_is_exact() {
        for list in TASK_LISTS {
            let mut tab = PromptsTab::default();
            tab.prepare_curve_of(list);
            assert_eq!(tab.view, TaskView::AnySetting);
            assert_eq!(tab.list(), Some(list));
            assert!(tab.form.tasks().unwrap().is_exact, "{list}");
            assert!(tab.task_curve().is_none(), "nothing was computed");
        }
    }
}
