//! Stability maps as a CSV table: one row per cell.

use crate::export::csv::{as_text, push_row};
use crate::generation::PaneSettings;
use crate::lab::stability::figures::StabilityMap;

/// Renders the known cells with a header row. `exact` is false if more tokens may stay the same.
/// The map of a held token says instead whether it stays; the cell is empty if that is unknown.
pub fn render_stability(map: &StabilityMap) -> Vec<u8> {
    let mut table = String::new();
    let axes = [&map.rows, &map.columns].map(|axis| axis.parameter.key());
    let figure = match map.held() {
        Some(step) => format!("token_{}_stays", step + 1),
        None => "n_same_tokens".to_owned(),
    };
    let figures = ["settings".to_owned(), figure, "exact".to_owned()];
    push_row(&mut table, axes.into_iter().chain(figures));
    for cell in (0..map.n_cells()).filter(|cell| map.is_known(*cell)) {
        let (Some(values), Some(found)) = (map.values_of(cell), map.shown(cell)) else {
            continue;
        };
        let settings = PaneSettings::from(map.chain_of(cell)).to_string();
        let figures = [
            as_text(&settings),
            match map.held() {
                Some(_) if !found.exact => String::new(),
                Some(_) => (found.n_same > 0).to_string(),
                None => found.n_same.to_string(),
            },
            found.exact.to_string(),
        ];
        push_row(
            &mut table,
            values
                .map(|value| value.to_string())
                .into_iter()
                .chain(figures),
        );
    }
    table.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::render_stability;
    use crate::analysis::sweep::testing::setup;
    use crate::generation::testing::generation;
    use crate::lab::stability::figures::StabilityMap;

    #[test]
    fn the_map_of_a_token_says_whether_it_stays() {
        let text = generation(&[(" fox", 0.9), (" house", 0.1)]);
        let axes = setup(2, 3, 1);
        let mut map = StabilityMap::of_token(&text, 1, axes.rows, axes.columns.unwrap());
        map.advance(&text, || true);
        let table = String::from_utf8(render_stability(&map)).unwrap();
        let rows: Vec<&str> = table.trim_end().split("\r\n").collect();
        assert_eq!(rows[0], "temp,top-p,settings,token_2_stays,exact");
        assert!(
            rows[1].ends_with(",true") || rows[1].ends_with(",false"),
            "{table}"
        );
    }

    #[test]
    fn every_known_cell_is_a_row() {
        let text = generation(&[(" fox", 0.9), (" house", 0.1)]);
        let axes = setup(2, 3, 1);
        let mut map = StabilityMap::new(&text, axes.rows, axes.columns.unwrap());
        map.advance(&text, || true);
        let table = String::from_utf8(render_stability(&map)).unwrap();
        let rows: Vec<&str> = table.trim_end().split("\r\n").collect();
        assert_eq!(rows.len(), 7, "{table}");
        assert_eq!(rows[0], "temp,top-p,settings,n_same_tokens,exact");
        assert!(
            rows[1].starts_with("0.5,0.8,\"T 0.5, top-p 0.8\","),
            "{table}"
        );
    }
}
