/**
 * The patterns of bucket policies: `*` matches any characters, none and slashes too; `?` for exactly one.
 *
 * Rule: a pattern that was chosen badly on purpose costs the product of both lengths and no more, which a regular
 * expression does not promise.
 */
export function matchesWildcards(pattern: string, text: string): boolean {
  let at = 0
  let next = 0
  /** Behind the last `*` so far, and where in the text it ends for now; a later `*` makes earlier ones final. */
  let star: { readonly next: number; at: number } | null = null
  while (at < text.length) {
    const wanted = pattern[next]
    if (wanted === '*') {
      next += 1
      star = { next, at }
    } else if (wanted === '?') {
      next += 1
      at += charactersLength(text, at)
    } else if (wanted === text[at]) {
      next += 1
      at += 1
    } else if (star === null) {
      return false
    } else {
      star.at += 1
      ;({ next, at } = star)
    }
  }
  while (pattern[next] === '*') next += 1
  return next === pattern.length
}

/**
 * How many characters of a pattern can be compared again and again: all of one in which a `*` is followed by more.
 * Others are compared once.
 */
export function repeatedChars(pattern: string): number {
  return /\*[^*]/.test(pattern) ? pattern.length : 0
}

/** A character outside of the basic plane is two units long. */
function charactersLength(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1
}
