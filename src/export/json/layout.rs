//! Lays out the JSON: indented down to a readable depth, and one line per table row below that.

use std::io;

use serde_json::ser::Formatter;

/// The nesting depth down to which each value gets a separate line. A step's candidates are one
/// level deeper, so each of them fits on one line.
const N_OPEN: usize = 6;

/// Indents by two spaces per level, down to the rows of a step's tables.
#[derive(Debug, Default)]
pub(super) struct Layout {
    depth: usize,
    /// Whether the current container has at least one value.
    filled: bool,
}

impl Layout {
    fn begin<W: ?Sized + io::Write>(&mut self, writer: &mut W, mark: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.filled = false;
        writer.write_all(mark)
    }

    fn end<W: ?Sized + io::Write>(&mut self, writer: &mut W, mark: &[u8]) -> io::Result<()> {
        let open = self.depth <= N_OPEN;
        self.depth = self.depth.saturating_sub(1);
        if open && self.filled {
            self.new_line(writer)?;
        }
        writer.write_all(mark)
    }

    fn value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        let open = self.depth <= N_OPEN;
        match (first, open) {
            (false, true) => writer.write_all(b",")?,
            (false, false) => writer.write_all(b", ")?,
            (true, _) => {}
        }
        if open { self.new_line(writer) } else { Ok(()) }
    }

    fn new_line<W: ?Sized + io::Write>(&self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| writer.write_all(b"  "))
    }
}

impl Formatter for Layout {
    fn begin_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"[")
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"]")
    }

    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.value(writer, first)
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.filled = true;
        Ok(())
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"{")
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"}")
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.value(writer, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.filled = true;
        Ok(())
    }
}
