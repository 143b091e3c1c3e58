/**
 * Where further names are to be expected behind some that are in order: as far apart as those are, counted in the characters that those have.
 *
 * Owns: the guess. Knows nothing of: rows. Rule: a wrong guess costs a read; nothing may depend on a right one.
 */

/** Characters behind what the names have in common that count. */
const WINDOW = 6
const DIGITS = Array.from('0123456789')
/** Values of as many characters as count are whole numbers that are exact. */
const ALPHABET_MAX = 256

/** Names behind the last one, `apart` names from each other by estimate, `count` at most. Ends early where there is nothing to estimate by. */
export function* namesAhead(names: readonly string[], apart: number, count: number): Generator<string> {
  const [first, last] = [names[0], names.at(-1)]
  if (first === undefined || last === undefined) return
  const common = commonLength(first, last)
  const end = Math.min(common + WINDOW, last.length)
  const ranks = ranksOf(names.map((name) => name.slice(common, end)))
  const valueAt = (name: string): number => valueOf(name.slice(common, end), end - common, ranks)
  const distance = (valueAt(last) - valueAt(first)) / (names.length - 1)
  if (ranks.size > ALPHABET_MAX || !(distance > 0)) return
  for (let n = 1; n <= count; n++) {
    const name = raised(last, end, Math.round(n * apart * distance), ranks)
    if (name === null) return
    yield name
  }
}

function commonLength(one: string, other: string): number {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  return at
}

/** Of each character among them; all digits where there is one. */
function ranksOf(texts: readonly string[]): ReadonlyMap<string, number> {
  const seen = new Set(texts.join(''))
  if (DIGITS.some((digit) => seen.has(digit))) for (const digit of DIGITS) seen.add(digit)
  return new Map([...seen].sort().map((character, rank) => [character, rank]))
}

/** A character that is missing counts as the lowest. */
function valueOf(text: string, length: number, ranks: ReadonlyMap<string, number>): number {
  let value = 0
  for (let at = 0; at < length; at++) value = value * ranks.size + (ranks.get(text.charAt(at)) ?? 0)
  return value
}

/** `name` up to `end`, as a number raised by `amount`; null: it has no room for that. */
function raised(
  name: string,
  end: number,
  amount: number,
  ranks: ReadonlyMap<string, number>,
): string | null {
  const characters = [...ranks.keys()]
  let left = amount
  let text = ''
  let at = end
  for (; at > 0 && left > 0; at--) {
    const rank = ranks.get(name.charAt(at - 1))
    if (rank === undefined) return null
    text = `${characters[(rank + left) % characters.length]}${text}`
    left = Math.floor((rank + left) / characters.length)
  }
  return left > 0 ? null : name.slice(0, at) + text
}
