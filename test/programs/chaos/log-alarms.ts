/**
 * Lines in the log of a node that need an explanation.
 *
 * Owns: which lines call for an operator. Pure.
 * Rules: a line that is no JSON is one too: it is the output of a crashing program; indented lines below it, such as its cause, belong
 * to it. The notice of a node that waits to join is none.
 */
const PLAIN = 'plain'
/** The time of the words of a program that ended before its first line. */
const UNKNOWN = 0
const ALARMING = ['error', 'fatal', PLAIN]
/** A whole message with its causes; stacks are left out. */
const LINE_CHARS_MAX = 1500
const GREETING = /^\S+ waits to be added to the cluster\. /

/** Without `isExpected`, every line of level error and above, and every one that is no JSON and no greeting. */
export function alarmingLines(
  log: string,
  isExpected: (line: LogLine) => boolean = () => false,
): readonly string[] {
  let at = UNKNOWN
  const alarming: string[] = []
  for (const text of entriesOf(log)) {
    const line = parsed(text) ?? { level: PLAIN, at, text }
    at = line.at
    if (ALARMING.includes(line.level) && !isGreeting(line) && !isExpected(line))
      alarming.push(withoutStacks(text).slice(0, LINE_CHARS_MAX))
  }
  return alarming
}

/** Lines; those indented below a line that is no JSON belong to it. */
function entriesOf(log: string): readonly string[] {
  const entries: string[] = []
  for (const line of log.split('\n')) {
    const last = entries.at(-1)
    if (line.startsWith('  ') && last !== undefined && !last.startsWith('{'))
      entries[entries.length - 1] = `${last}\n${line}`
    else if (line !== '') entries.push(line)
  }
  return entries
}

export interface LogLine {
  readonly level: string
  /** Milliseconds since 1970; of a line that is no JSON, of the one before; UNKNOWN if there is none. */
  readonly at: number
  readonly text: string
}

function parsed(text: string): LogLine | null {
  try {
    const { level, time } = JSON.parse(text) as { level: unknown; time: unknown }
    return typeof level === 'string' ? { level, at: Date.parse(String(time)), text } : null
  } catch {
    return null
  }
}

function withoutStacks(text: string): string {
  if (parsed(text) === null) return text
  return JSON.stringify(JSON.parse(text), (name, value: unknown) => (name === 'stack' ? undefined : value))
}

/** As `waitingText` of src/cli/local/server-command.ts has it. */
function isGreeting({ level, text }: LogLine): boolean {
  return level === PLAIN && GREETING.test(text)
}

/** A disk that was full may be spoken of while it was, and a little later. */
const AFTERMATH_MS = 5000

/** `excuses`: when the disk of this node was full. Only lines that name the reason are excused. */
export function isExplained(line: LogLine, excuses: readonly Excuse[]): boolean {
  if (!/ENOSPC|[Nn]o space left|[Dd]isk .*full|disk_full/.test(line.text)) return false
  if (line.at === UNKNOWN) return excuses.length > 0
  return excuses.some(({ since, until }) => line.at >= since && line.at <= until + AFTERMATH_MS)
}

/** In milliseconds since 1970. */
export interface Excuse {
  readonly since: number
  readonly until: number
}

/** The leader reports that a node whose disk went back has lost acknowledged entries. */
export function isOfRollBack({ text }: LogLine): boolean {
  return /"code":"member_rolled_back"/.test(text)
}

/** A node that has left is notified, and requires an operator. */
export function isRemovalNotice({ text }: LogLine): boolean {
  return /"code":"member_(removed|tombstoned)"/.test(text)
}
