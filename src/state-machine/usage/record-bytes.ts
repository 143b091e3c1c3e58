/**
 * How many bytes of metadata a record counts in the usage of its tenant. [docs/adr/0043-what-a-tenant-may-pile-up.md]
 *
 * Owns: the sums. Knows nothing of: quotas. PURE.
 * Rules: a record carries the bytes that it counted, and the same number is taken back when it goes, so the usage is exact; below
 * METERED_LEVEL nothing is counted, because older nodes count nothing.
 */
import type { ApplyContext } from '../base/view.ts'

/** From this feature level on, records count. */
const METERED_LEVEL = 4
/** Ids, links, digests and index rows of a version, marker, upload, part or config. */
export const RECORD_BYTES = 256

interface Described {
  readonly key: string
  readonly contentType?: string
  readonly metadata?: Readonly<Record<string, string>>
  readonly tags?: Readonly<Record<string, string>>
  readonly representation?: object
}

/** The member that a record counts with; empty below the level. */
export function metered(
  { featureLevel }: Pick<ApplyContext, 'featureLevel'>,
  described: Described,
): { readonly metadataBytes?: number } {
  return featureLevel < METERED_LEVEL ? {} : { metadataBytes: bytesOf(described) }
}

/** Bytes of a record without texts, such as a part; 0 below the level. */
export function bareBytes({ featureLevel }: Pick<ApplyContext, 'featureLevel'>): number {
  return featureLevel < METERED_LEVEL ? 0 : RECORD_BYTES
}

/** Bytes of a configuration of a bucket: one record, and all its texts; 0 below the level. */
export function configBytes(
  { featureLevel }: Pick<ApplyContext, 'featureLevel'>,
  config: string | object,
): number {
  if (featureLevel < METERED_LEVEL) return 0
  return RECORD_BYTES + utf8Bytes(typeof config === 'string' ? config : JSON.stringify(config))
}

function bytesOf({ key, contentType = '', metadata, tags, representation }: Described): number {
  const texts = bytesOfTexts(metadata) + bytesOfTexts(tags) + bytesOfTexts(representation)
  return RECORD_BYTES + utf8Bytes(key) + utf8Bytes(contentType) + texts
}

function bytesOfTexts(texts: object | undefined): number {
  let bytes = 0
  for (const [name, text] of Object.entries(texts ?? {})) bytes += utf8Bytes(name) + utf8Bytes(`${text}`)
  return bytes
}

/** Length in UTF-8, without an encoder: this room imports none. */
function utf8Bytes(text: string): number {
  let bytes = text.length
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    // A surrogate pair has two units and four bytes, so each unit adds one.
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1
  }
  return bytes
}
