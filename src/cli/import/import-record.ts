/**
 * What an imported object keeps of where it came from, and what a next import does with it. [record 55]
 *
 * Owns: two names of user metadata, the decision; pure. Rules: an object that somebody else wrote is never replaced without being asked to; one
 * that an earlier import made, and that changed at the source since, is. Times of the source are those of headers, which have whole seconds and round as
 * each store likes.
 */
import type { ListedSource } from './source-listing.ts'

export const ETAG_NAME = 'holdfast-source-etag'
export const MODIFIED_NAME = 'holdfast-source-last-modified'
/** Of user metadata in names and values, as the service accepts it. */
const METADATA_BYTES_MAX = 2048

export type Metadata = Readonly<Record<string, string>>

export interface SourceVersion {
  readonly etag: string
  /** Milliseconds since 1970. */
  readonly modifiedAt: number
}

/** The metadata of the source with the record. Without it where there is no room: an object must not fail because of it. */
export function withRecord(metadata: Metadata, { etag, modifiedAt }: SourceVersion): Metadata {
  const whole = { ...metadata, [ETAG_NAME]: etag, [MODIFIED_NAME]: timeText(modifiedAt) }
  const bytes = Object.entries(whole).reduce((sum, pair) => sum + Buffer.byteLength(pair.join('')), 0)
  return bytes <= METADATA_BYTES_MAX ? whole : metadata
}

/** With whole seconds. */
function timeText(ms: number): string {
  return Number.isNaN(ms) ? 'unknown' : new Date(Math.floor(ms / 1000) * 1000).toISOString()
}

export interface FoundTarget {
  readonly size: number
  readonly etag: string
  /** Of the user metadata. */
  readonly metadata: Metadata
}

/** `conflict`: somebody else wrote what is there. */
export type Step = 'copy' | 'replace' | 'keep' | 'conflict'

export function stepFor(source: ListedSource, target: FoundTarget | null, overwrites: boolean): Step {
  if (target === null) return 'copy'
  const recorded = target.metadata[ETAG_NAME]
  const isSame =
    recorded === undefined
      ? // Another tool may have copied it: an MD5 says that the bytes are the same.
        /^[0-9a-f]{32}$/.test(source.etag) && target.etag === source.etag
      : recorded === source.etag && isSameTime(target.metadata[MODIFIED_NAME], source.modifiedAt)
  if (isSame && target.size === source.size) return 'keep'
  return recorded !== undefined || overwrites ? 'replace' : 'conflict'
}

const ROUNDING_MS = 1_000

function isSameTime(recorded: string | undefined, modifiedAt: number): boolean {
  if (recorded === timeText(modifiedAt)) return true
  return Math.abs(Date.parse(recorded ?? '') - modifiedAt) <= ROUNDING_MS
}
