//! Made-up documents that look like Chinese news to the eye of a feature code: the same for the
//! same number on every machine.

use neardup_core::hash::mix;

/// Numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0) % end
    }

    /// A Han character; few are frequent and most are rare, as in texts.
    fn character(&mut self) -> char {
        const CHARACTERS: f64 = 3500.0;
        let uniform = self.below(1 << 32) as f64 / (1u64 << 32) as f64;
        let rank = CHARACTERS.powf(uniform) as u32 - 1;
        char::from_u32(0x4e00 + rank * 5).expect("a Han character")
    }
}

/// Document `number`: 2 to 8 paragraphs of 1 to 4 sentences of 1 to 4 clauses; every tenth is a
/// copy of an earlier one with an edit or a notice in front or behind.
pub fn document(number: u64) -> String {
    let mut numbers = Numbers(mix(number) ^ 7);
    if number > 0 && number.is_multiple_of(10) {
        let mut copy = original(numbers.below(number) / 10 * 10 + 1 + numbers.below(9));
        let edit: String = (0..6).map(|_| numbers.character()).collect();
        match numbers.below(4) {
            0 => copy.insert_str(0, &format!("{edit}，")),
            1 => copy.push_str(&format!("{edit}。")),
            2 => {
                let place = numbers.below(copy.chars().count() as u64) as usize;
                copy = copy.chars().take(place).chain(edit.chars()).chain(copy.chars().skip(place)).collect();
            }
            _ => {}
        }
        return copy;
    }
    original(number)
}

fn original(number: u64) -> String {
    let mut numbers = Numbers(mix(number));
    let mut text = String::new();
    for paragraph in 0..2 + numbers.below(7) {
        if paragraph > 0 {
            text.push('\n');
        }
        for _ in 0..1 + numbers.below(4) {
            for clause in 0..1 + numbers.below(4) {
                if clause > 0 {
                    text.push('，');
                }
                for _ in 0..4 + numbers.below(16) {
                    text.push(numbers.character());
                }
            }
            text.push('。');
        }
    }
    text
}
