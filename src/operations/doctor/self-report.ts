/**
 * What the doctor finds on a node as bytes for another node, which may be of another version: JSON with the findings, the names of the checks that were not made, and
 * the dates of its certificates.
 *
 * Owns: the bytes and their bounds. Rules: what does not fit a bound is cut, the least severe first, and that is said; fields that the reader does not know are passed
 * over; anything else that does not fit is refused. Names of checks are any text: a newer node may have more.
 */
export const SEVERITIES = ['ok', 'warning', 'error'] as const
export type Severity = (typeof SEVERITIES)[number]

export const TERMS = ['valid', 'endsSoon', 'expired', 'notYetValid'] as const
export type Term = (typeof TERMS)[number]

export interface SelfFinding {
  readonly check: string
  readonly severity: Severity
  readonly found: string
  /** Null when all is well. */
  readonly expected: string | null
  readonly action: string | null
}

export interface SelfCertificate {
  /** Which file of the configuration, such as `peer_tls.cert`. */
  readonly setting: string
  /** ms since 1970. */
  readonly validFrom: number
  readonly validTo: number
  /** By the clock of the node and the thresholds of the doctor. */
  readonly term: Term
}

export interface SelfReport {
  readonly findings: readonly SelfFinding[]
  readonly notChecked: readonly string[]
  readonly certificates: readonly SelfCertificate[]
  /** Findings or certificates were left out, or a text was cut. */
  readonly isTruncated: boolean
}

const ENTRIES_MAX = 64
/** Six bytes each at most in JSON: 64 findings of three texts stay below the bound of the call. */
const CHARACTERS_MAX = 400

/** Bytes, at most the bound of the call between nodes. */
export function writeSelfReport(report: Omit<SelfReport, 'isTruncated'>): Uint8Array {
  let isTruncated = false
  const cut = <T extends string | null>(text: T): T => {
    if (text === null || text.length <= CHARACTERS_MAX) return text
    isTruncated = true
    return `${text.slice(0, CHARACTERS_MAX - 1)}…` as T
  }
  const some = <T>(entries: readonly T[]): readonly T[] => {
    if (entries.length > ENTRIES_MAX) isTruncated = true
    return entries.slice(0, ENTRIES_MAX)
  }
  const rank = ({ severity }: SelfFinding): number => SEVERITIES.indexOf(severity)
  const kept = new Set(some(report.findings.toSorted((a, b) => rank(b) - rank(a))))
  const findings = report.findings
    .filter((finding) => kept.has(finding))
    .map(({ check, severity, found, expected, action }) => ({
      check,
      severity,
      found: cut(found),
      expected: cut(expected),
      action: cut(action),
    }))
  const certificates = some(report.certificates)
  const notChecked = some(report.notChecked)
  return Buffer.from(JSON.stringify({ findings, notChecked, certificates, isTruncated }))
}

/** Throws TypeError when these bytes are no report, and SyntaxError when they are no JSON. */
export function readSelfReport(bytes: Uint8Array): SelfReport {
  const { findings, notChecked, certificates, isTruncated } = fieldsOf(
    JSON.parse(Buffer.from(bytes).toString('utf8')),
  )
  return {
    findings: listOf(findings, 'findings').map(findingOf),
    notChecked: listOf(notChecked, 'notChecked').map((name) => textOf(name, 'notChecked')),
    certificates: listOf(certificates, 'certificates').map(certificateOf),
    isTruncated: isTruncated === true,
  }
}

function findingOf(value: unknown): SelfFinding {
  const { check, severity, found, expected, action } = fieldsOf(value)
  return {
    check: textOf(check, 'check'),
    severity: oneOf(SEVERITIES, severity, 'severity'),
    found: textOf(found, 'found'),
    expected: expected === null ? null : textOf(expected, 'expected'),
    action: action === null ? null : textOf(action, 'action'),
  }
}

function certificateOf(value: unknown): SelfCertificate {
  const { setting, validFrom, validTo, term } = fieldsOf(value)
  return {
    setting: textOf(setting, 'setting'),
    validFrom: timeOf(validFrom, 'validFrom'),
    validTo: timeOf(validTo, 'validTo'),
    term: oneOf(TERMS, term, 'term'),
  }
}

const refuse = (name: string): never => {
  throw new TypeError(`Cannot read what the doctor finds on a node: "${name}" is malformed`)
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function listOf(value: unknown, name: string): readonly unknown[] {
  return Array.isArray(value) && value.length <= ENTRIES_MAX ? value : refuse(name)
}

function textOf(value: unknown, name: string): string {
  return typeof value === 'string' && value.length <= CHARACTERS_MAX ? value : refuse(name)
}

/** What `Date` can show. */
const TIME_MS_MAX = 8.64e15

function timeOf(value: unknown, name: string): number {
  return typeof value === 'number' && Math.abs(value) <= TIME_MS_MAX ? value : refuse(name)
}

function oneOf<T extends string>(all: readonly T[], value: unknown, name: string): T {
  return all.find((one) => one === value) ?? refuse(name)
}
