//! How the JSON is spread over lines: open where people read, one line where a table begins.

use std::io;

use serde_json::ser::Formatter;

/// How many containers deep each value still gets a line of its own; a candidate of a step lies
/// one deeper and stands on one line.
const N_OPEN: usize = 6;

/// Two spaces a level, down to the rows of a step's tables.
#[derive(Debug, Default)]
pub(super) struct Layout {
    depth: usize,
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
