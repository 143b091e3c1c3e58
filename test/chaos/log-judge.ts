/**
 * What the log of a node says that needs an explanation.
 *
 * Owns: which lines call for an operator. Pure.
 * Rule: a line that is no JSON is one too: it is what a program says when it falls over.
 */
const ALARMING = ['error', 'fatal']
const LINE_CHARS_MAX = 400

/** Without `isExpected`, every line of level error and above. */
export function alarmingLines(
  log: string,
  isExpected: (line: LogLine) => boolean = () => false,
): readonly string[] {
  return log
    .split('\n')
    .filter((text) => text !== '')
    .filter((text) => {
      const line = parsed(text)
      return line === null || (ALARMING.includes(line.level) && !isExpected(line))
    })
    .map((text) => text.slice(0, LINE_CHARS_MAX))
}

export interface LogLine {
  readonly level: string
  /** Milliseconds since 1970. */
  readonly at: number
  readonly msg: string
  readonly text: string
}

function parsed(text: string): LogLine | null {
  try {
    const { level, time, msg } = JSON.parse(text) as { level: unknown; time: unknown; msg?: unknown }
    if (typeof level !== 'string') return null
    return { level, at: Date.parse(String(time)), msg: String(msg), text }
  } catch {
    return null
  }
}

/** A disk that was full may be spoken of while it was, and a little later. */
const AFTERMATH_MS = 5000

/** `excuses`: when the disk of this node was full. Only what names the reason is excused. */
export function isExplained(line: LogLine, excuses: readonly Excuse[]): boolean {
  if (!/ENOSPC|[Nn]o space left|[Dd]isk .*full|disk_full/.test(line.text)) return false
  return excuses.some(({ since, until }) => line.at >= since && line.at <= until + AFTERMATH_MS)
}

/** In milliseconds since 1970. */
export interface Excuse {
  readonly since: number
  readonly until: number
}
