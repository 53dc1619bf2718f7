//! The markers of list items at the beginning of lines.

use super::characters::is_space;

/// Returns the number of bytes of the list marker at the start of a line, including the white space
/// after the marker; 0 if there is no marker. `line` has no indent. Markers are dashes, dots and
/// other signs, and numbers and letters in the usual forms.
pub fn bullet(line: &str) -> usize {
    let sign = symbol(line);
    if sign > 0 {
        return sign;
    }
    let spaced = |at: usize| {
        let rest = &line[at..];
        let blanks = rest.len() - rest.trim_start_matches(is_space).len();
        if blanks > 0 { at + blanks } else { 0 }
    };
    let open = line.chars().next().filter(|c| matches!(c, '(' | '（'));
    let start = open.map_or(0, char::len_utf8);
    let body = &line[start..];
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    let han = body
        .chars()
        .take_while(|c| "〇零一二三四五六七八九十百".contains(*c))
        .map(char::len_utf8)
        .sum::<usize>();
    let letter = usize::from(body.starts_with(|c: char| c.is_ascii_alphabetic()));
    let (number, length) = match (digits, han) {
        (1..=3, _) => (true, digits),
        (0, 1..=12) => (true, han),
        (0, 0) if letter == 1 => (false, 1),
        _ => return 0,
    };
    let Some(close) = body[length..].chars().next() else { return 0 };
    let end = start + length + close.len_utf8();
    match close {
        // In Chinese text, the marker needs no space after it.
        '、' if number && open.is_none() => end + spaced(end).saturating_sub(end),
        '）' if open.is_some() || number => end + spaced(end).saturating_sub(end),
        ')' => spaced(end),
        '.' | '．' if number && han == 0 && open.is_none() => spaced(end),
        _ => 0,
    }
}

/// Returns the number of bytes of the sign at the start of a line that marks a list item or a
/// heading, including the white space after the sign; 0 if there is no such sign.
pub fn symbol(line: &str) -> usize {
    let Some(c) = line.chars().next() else { return 0 };
    let length = match c {
        '#' => line.bytes().take_while(|&b| b == b'#').count(),
        _ => c.len_utf8(),
    };
    let rest = &line[length..];
    let blanks = rest.len() - rest.trim_start_matches(is_space).len();
    match c {
        '•' | '‣' | '▪' | '■' | '□' | '●' | '○' | '◆' | '◇' | '►' | '▶' | '★' | '☆' | '※' => {
            length + blanks
        }
        '-' | '*' | '+' | '·' | '–' | '—' | '◦' | '>' | '#' if blanks > 0 => length + blanks,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_of_lists() {
        for (line, length) in [
            ("- a", 2),
            ("-a", 0),
            ("•a", 3),
            ("* a", 2),
            ("## a", 3),
            ("#a", 0),
            ("1. a", 3),
            ("1.5 a", 0),
            ("12) a", 4),
            ("(3) a", 4),
            ("a) b", 3),
            ("a. b", 0),
            ("1987. The", 0),
            ("一、总则", 6),
            ("（二）总则", 9),
            ("", 0),
            ("-", 0),
            ("3", 0),
            ("一天", 0),
            ("1、总", 4),
        ] {
            assert_eq!(bullet(line), length, "{line:?}");
        }
    }
}
