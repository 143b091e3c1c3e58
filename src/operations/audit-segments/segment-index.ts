/**
 * The index of a segment: which names and codes its rows may have. docs/formats/audit-segment.md
 *
 * Owns: which names a row has, and the filter over them. Knows nothing of: queries.
 * Rule: a name that was put in is always found; how a name is hashed never changes, for indexes are kept with their segments.
 */
import { hash } from 'node:crypto'
import {
  AUDIT_INDEX_BYTES_MAX,
  AUDIT_INDEX_CODES_MAX,
  type AuditIndex,
  type AuditRow,
} from '../../state-machine/audit/records.ts'

/** With HASHES probes about one name in a hundred that is absent seems to be there. */
const BITS_PER_NAME = 10
const HASHES = 7
const BYTES_MIN = 8
const WORD_BYTES = 4

export type NameKind = 'tenant' | 'operation' | 'actor' | 'session' | 'bucket' | 'key' | 'request'

export function nameOf(kind: NameKind, text: string): string {
  return `${kind}\n${text}`
}

/** A Bloom filter: a name sets one bit for each of the first HASHES words of its SHA-256. */
export class NameFilter {
  readonly #bits: Uint8Array

  constructor(bits: Uint8Array) {
    this.#bits = bits
  }

  static of(names: ReadonlySet<string>): Uint8Array {
    const wanted = Math.ceil((names.size * BITS_PER_NAME) / 8)
    const bits = new Uint8Array(Math.min(Math.max(wanted, BYTES_MIN), AUDIT_INDEX_BYTES_MAX))
    for (const name of names)
      for (const at of placesOf(name, bits.length)) bits[at >> 3] = (bits[at >> 3] ?? 0) | (1 << (at & 7))
    return bits
  }

  hasAll(names: readonly string[]): boolean {
    return names.every((name) =>
      placesOf(name, this.#bits.length).every((at) => ((this.#bits[at >> 3] ?? 0) & (1 << (at & 7))) !== 0),
    )
  }
}

function placesOf(name: string, bytes: number): readonly number[] {
  const digest = hash('sha256', name, 'buffer')
  return Array.from({ length: HASHES }, (_, n) => digest.readUInt32BE(n * WORD_BYTES) % (bytes * 8))
}

/** Rows are given one by one, so that no caller holds them all. */
export class IndexBuilder {
  readonly #names = new Set<string>()
  readonly #codes = new Set<string | null>()

  add(row: AuditRow): void {
    const { tenantId, operation, actor, bucket, requestId, code } = row
    this.#codes.add(code)
    this.#name('tenant', tenantId)
    this.#name('operation', operation)
    this.#name('actor', actor.id)
    this.#name('actor', actor.accessKeyId ?? null)
    this.#name('bucket', bucket)
    this.#name('request', requestId)
    for (const session of sessionsOf(row)) this.#name('session', session)
    for (const key of keysOf(row)) this.#name('key', key)
  }

  finish(): AuditIndex {
    const isListed = this.#codes.size <= AUDIT_INDEX_CODES_MAX
    return { codes: isListed ? [...this.#codes] : null, names: NameFilter.of(this.#names) }
  }

  #name(kind: NameKind, text: string | null): void {
    if (text !== null) this.#names.add(nameOf(kind, text))
  }
}

/** Of the caller, and of the credential that the request made. */
export function sessionsOf({ actor, details }: AuditRow): readonly string[] {
  return [actor.session, details?.['session']].filter((name) => typeof name === 'string')
}

/** Of the request, and of what a batch names. */
export function keysOf({ key, details }: AuditRow): readonly string[] {
  if (key !== null) return [key]
  const deleted = (details?.['deletedKeys'] ?? []) as readonly string[]
  const refused = (details?.['refusedKeys'] ?? []) as readonly { readonly key: string }[]
  return [...deleted, ...refused.map((each) => each.key)]
}
