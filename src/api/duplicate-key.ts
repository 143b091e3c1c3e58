/**
 * Finds a key that stands twice in one object of a JSON text that JSON.parse has accepted.
 *
 * JSON.parse keeps the last value silently, so the text itself has to be walked. Iterative: nesting costs memory in
 * proportion to the text, never stack.
 */
export function findDuplicateKey(text: string): string | null {
  /** One entry for each open bracket: the keys seen so far, or null inside of an array. */
  const open: (Set<string> | null)[] = []
  let expectsKey = false
  let at = 0
  while (at < text.length) {
    const character = text[at]
    if (character === '"') {
      const end = endOfString(text, at)
      const keys = open.at(-1)
      if (expectsKey && keys) {
        // Unescaped, because "a" and "\u0061" are the same key.
        const key = String(JSON.parse(text.slice(at, end)))
        if (keys.has(key)) return key
        keys.add(key)
        expectsKey = false
      }
      at = end
    } else if (character === '{' || character === '[') {
      open.push(character === '{' ? new Set() : null)
      expectsKey = character === '{'
      at += 1
    } else if (character === '}' || character === ']') {
      open.pop()
      expectsKey = false
      at += 1
    } else if (character === ',') {
      expectsKey = open.at(-1) !== null
      at += 1
    } else {
      at += 1
    }
  }
  return null
}

/** Index after the closing quote of the string that opens at `at`. */
function endOfString(text: string, at: number): number {
  let end = text.indexOf('"', at + 1)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end + 1
}

function isEscaped(text: string, at: number): boolean {
  let first = at
  while (text[first - 1] === '\\') first -= 1
  return (at - first) % 2 === 1
}
