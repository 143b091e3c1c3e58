/**
 * Patterns of names: `*` within a part, `**` across parts, `?`, `[a-z]`, `{jpg,png}`; a backslash takes the next character as it is.
 *
 * Owns: what they mean; pure. Rules: `*` matches names that begin with a dot too, because keys are no hidden files. A pattern has at most
 * PATTERN_CHARS_MAX characters.
 */
import { CommandError, EXIT } from './exit.ts'

const PATTERN_CHARS_MAX = 1_024

export interface Pattern {
  readonly matches: (text: string) => boolean
}

/** Whether a text would be read as a pattern. */
export const isPattern = (text: string): boolean => /[*?[{]/.test(text)

/** The characters before the first one that is not meant as it is. */
export function literalStart(pattern: string): string {
  return pattern.slice(0, /[*?[{\\]|$/.exec(pattern)?.index ?? 0)
}

/** Of whole texts. Throws CommandError. */
export function patternOf(text: string): Pattern {
  if (text.length > PATTERN_CHARS_MAX)
    throw unusable(text, `it has more than ${PATTERN_CHARS_MAX} characters`)
  const expression = compiled(text)
  return { matches: (tested) => expression.test(tested) }
}

function compiled(text: string): RegExp {
  try {
    return new RegExp(`^${sourceOf(text)}$`, 'su')
  } catch {
    throw unusable(text, 'a bracket or brace is not closed, or has no meaning')
  }
}

const TOKEN = /\*{2,}\/?|\*|\?|\[[!^]?\]?[^\]]*\]|\\[^]|[{},]|[^]/gu

function sourceOf(text: string): string {
  let depth = 0
  const source = (text.match(TOKEN) ?? []).map((token) => {
    if (token === '{') depth += 1
    else if (token === '}' && depth > 0) depth -= 1
    else if (token !== ',' || depth === 0) return pieceOf(token)
    return token === '{' ? '(?:' : token === '}' ? ')' : '|'
  })
  if (depth > 0) throw unusable(text, 'a brace is not closed')
  return source.join('')
}

function pieceOf(token: string): string {
  if (token.startsWith('**')) return token.endsWith('/') ? '(?:.*/)?' : '.*'
  if (token === '*') return '[^/]*'
  if (token === '?') return '[^/]'
  if (token.length > 1 && token.startsWith('[')) return setOf(token)
  return escaped(token.startsWith('\\') && token.length > 1 ? token.slice(1) : token)
}

function setOf(token: string): string {
  const isNot = /^\[[!^]/.test(token)
  const inner = token.slice(isNot ? 2 : 1, -1).replace(/[\\\][^&|~]/g, '\\$&')
  return `(?!/)[${isNot ? '^' : ''}${inner}]`
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')

/** Which paths a sync looks at. */
export interface PathFilter {
  readonly excluded: readonly string[]
  readonly included: readonly string[]
}

/**
 * A path is left out when a pattern excludes it and none includes it; with included ones alone, when none includes it. A pattern without a
 * slash matches any part of a path, another one from its beginning; what is below a matched folder is matched with it.
 */
export function pathFilter({ excluded, included }: PathFilter): (path: string) => boolean {
  const out = excluded.map(partPattern)
  const back = included.map(partPattern)
  return (path) => {
    if (back.some((matches) => matches(path))) return true
    return out.length === 0 ? back.length === 0 : !out.some((matches) => matches(path))
  }
}

function partPattern(text: string): (path: string) => boolean {
  const isOfFolder = text.endsWith('/')
  const bare = text.replace(/^\//, '').replace(/\/$/, '')
  const isAnchored = text.replace(/\/$/, '').includes('/')
  const { matches } = patternOf(bare)
  return (path) => {
    const parts = path.split('/')
    return parts.some((part, n) => {
      if (isOfFolder && n === parts.length - 1) return false
      return matches(isAnchored ? parts.slice(0, n + 1).join('/') : part)
    })
  }
}

function unusable(text: string, why: string): CommandError {
  return new CommandError(`'${text.slice(0, 80)}' is not a usable pattern: ${why}`, {
    code: 'invalid_argument',
    hint: "Write it like '*.jpg', 'photos/**/cat?.png' or '{tmp,cache}/', in quotes.",
    exitCode: EXIT.usage,
  })
}
