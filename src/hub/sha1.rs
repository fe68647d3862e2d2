//! SHA-1 (FIPS 180-4), by which git names files. It guards against accidents, not against malice; the
//! large files have a SHA-256.

/// A hash in the making.
#[derive(Debug, Clone)]
pub(super) struct Sha1 {
    state: [u32; 5],
    block: Vec<u8>,
    n_bytes: u64,
}

const BLOCK: usize = 64;

impl Sha1 {
    /// The hash of nothing yet.
    pub fn new() -> Self {
        Self {
            state: [
                0x6745_2301,
                0xefcd_ab89,
                0x98ba_dcfe,
                0x1032_5476,
                0xc3d2_e1f0,
            ],
            block: Vec::with_capacity(BLOCK),
            n_bytes: 0,
        }
    }

    /// The next bytes.
    pub fn update(&mut self, mut bytes: &[u8]) {
        self.n_bytes += bytes.len() as u64;
        while !bytes.is_empty() {
            let (taken, rest) = bytes.split_at(bytes.len().min(BLOCK - self.block.len()));
            self.block.extend_from_slice(taken);
            bytes = rest;
            if self.block.len() == BLOCK {
                compress(&mut self.state, &self.block);
                self.block.clear();
            }
        }
    }

    /// The hash of all bytes, in hexadecimal.
    pub fn finish(mut self) -> String {
        let n_bits = self.n_bytes * 8;
        self.update(&[0x80]);
        while self.block.len() != BLOCK - 8 {
            self.update(&[0]);
        }
        self.update(&n_bits.to_be_bytes());
        self.state.map(|word| format!("{word:08x}")).concat()
    }
}

#[expect(
    clippy::many_single_char_names,
    reason = "the letters are those of the standard"
)]
fn compress(state: &mut [u32; 5], block: &[u8]) {
    let mut words: Vec<u32> = block
        .chunks_exact(4)
        .map(|bytes| {
            bytes
                .iter()
                .fold(0, |word, byte| word << 8 | u32::from(*byte))
        })
        .collect();
    while let [.., w16, _, w14, _, _, _, _, _, w8, _, _, _, _, w3, _, _] = words.as_slice() {
        words.push((w16 ^ w14 ^ w8 ^ w3).rotate_left(1));
        if words.len() == 80 {
            break;
        }
    }
    let [mut a, mut b, mut c, mut d, mut e] = *state;
    for (index, word) in words.into_iter().enumerate() {
        let (mix, constant) = match index {
            0..20 => ((b & c) | (!b & d), 0x5a82_7999),
            20..40 => (b ^ c ^ d, 0x6ed9_eba1),
            40..60 => ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc),
            _ => (b ^ c ^ d, 0xca62_c1d6_u32),
        };
        let next = a
            .rotate_left(5)
            .wrapping_add(mix)
            .wrapping_add(e)
            .wrapping_add(constant)
            .wrapping_add(word);
        (e, d, c, b, a) = (d, c, b.rotate_left(30), a, next);
    }
    for (word, added) in state.iter_mut().zip([a, b, c, d, e]) {
        *word = word.wrapping_add(added);
    }
}

#[cfg(test)]
mod tests {
    use super::Sha1;

    fn sha1(pieces: &[&[u8]]) -> String {
        let mut hash = Sha1::new();
        for piece in pieces {
            hash.update(piece);
        }
        hash.finish()
    }

    /// The examples of FIPS 180-1.
    #[test]
    fn the_examples_of_the_standard_come_out() {
        let two_blocks: &[u8] = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        for (pieces, hash) in [
            (
                &[&b"abc"[..]][..],
                "a9993e364706816aba3e25717850c26c9cd0d89d",
            ),
            (&[two_blocks], "84983e441c3bd26ebaae4aa1f95129e5e54670f1"),
            (&[], "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
        ] {
            assert_eq!(sha1(pieces), hash);
        }
        let many = [b'a'; 1_000];
        assert_eq!(
            sha1(&vec![&many[..]; 1_000]),
            "34aa973cd4c4daa4f61eeb2bdbad27316534016f"
        );
    }

    #[test]
    fn it_does_not_matter_how_the_bytes_are_cut() {
        let bytes: Vec<u8> = (0..=255).collect();
        for cut in [1, 55, 56, 63, 64, 65, 200] {
            let (first, second) = bytes.split_at(cut);
            assert_eq!(sha1(&[first, second]), sha1(&[&bytes]));
        }
    }
}
