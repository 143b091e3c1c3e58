/**
 * What a listing shows of a version, read from its row without decoding the whole of it.
 *
 * Owns: where the members lie. Knows nothing of: how they are shown.
 * Rule: the answer is that of `listedVersion` for the decoded record, always; a row in an unusual form is decoded.
 */
import {
  type ListedMetadata,
  type ListedObject,
  type ListedVersion,
  listedVersion,
} from '../../state-machine/versions/listed-version.ts'
import type { ObjectRecord, VersionRecord } from '../../state-machine/versions/records.ts'
import type { RowKey } from '../../state-machine/base/row-key.ts'
import { decodePayload } from '../rows/row-codec.ts'
import { NOWHERE, RowMembers } from '../rows/row-members.ts'

/** `payload`: of a row whose checksum agreed. `key`: the object key that its row key names. Throws RowDamagedError. */
export function readListedVersion(row: RowKey<VersionRecord>, key: string, payload: Buffer): ListedVersion {
  return listedFrom(key, payload) ?? listedVersion(decodePayload(row, payload))
}

/** As above, of a row that is never a delete marker. */
export function readListedObject(row: RowKey<ObjectRecord>, key: string, payload: Buffer): ListedObject {
  return asObject(readListedVersion(row, key, payload))
}

/** As above, with its user metadata. */
export function readDescribedObject(row: RowKey<ObjectRecord>, key: string, payload: Buffer): ListedObject {
  const metadata = metadataFrom(payload)
  if (metadata !== null) return { ...readListedObject(row, key, payload), metadata }
  const decoded = decodePayload(row, payload)
  return { ...asObject(listedVersion(decoded)), metadata: Object.entries(decoded.metadata) }
}

function asObject(listed: ListedVersion): ListedObject {
  if (listed.kind === 'object') return listed
  throw new Error('Cannot list an object: its row holds a delete marker')
}

const encoded = (name: string): Uint8Array => Buffer.from(name, 'latin1')
const KIND = encoded('kind')
const SIZE = encoded('size')
const ETAG = encoded('etag')
const NEWER = encoded('newer')
const IS_NULL = encoded('isNull')
const VERSION_ID = encoded('versionId')
const COMPOSITE = encoded('composite')
const CHECKSUMS = encoded('checksums')
const METADATA = encoded('metadata')
const LAST_MODIFIED = encoded('lastModified')
const CUSTOMER_SEAL = encoded('customerSeal')

const OBJECT = encoded('object')
const DELETE_MARKER = encoded('deleteMarker')
/** The names of digests that this build writes, each always the same text. */
const ALGORITHMS = ['CRC64NVME', 'CRC32C', 'CRC32', 'SHA256', 'SHA1'].map((name) => ({
  name,
  bytes: encoded(name),
}))

/** A line while its members are read. */
interface Draft {
  kind: 'object' | 'deleteMarker'
  readonly key: string
  versionId: string
  isNull: boolean
  isLatest: boolean
  lastModified: number
  size: number
  etag: string
  algorithms: readonly string[]
  readonly isComposite: false
}

/** Each member of a line is one bit, so that what was read is one number; the last is for members that no line shows. */
const READ = { kind: 1, versionId: 2, isNull: 4, isLatest: 8, lastModified: 16, size: 32, etag: 64 } as const
const READ_ALGORITHMS = 128
const READ_OTHER = 256
const READ_MARKER = READ.kind | READ.versionId | READ.isNull | READ.isLatest | READ.lastModified
const READ_OBJECT = READ_MARKER | READ.size | READ.etag | READ_ALGORITHMS
/** The whole record has to be decoded. */
const UNUSUAL = 0

/** Null: the row has another form than the rows that this build writes, or a member that is rare. */
function listedFrom(key: string, payload: Buffer): ListedVersion | null {
  const members = new RowMembers(payload)
  const draft: Draft = {
    kind: 'object',
    key,
    versionId: '',
    isNull: false,
    isLatest: false,
    lastModified: 0,
    size: 0,
    etag: '',
    algorithms: NO_NAMES,
    isComposite: false,
  }
  const count = members.enterMap()
  let read = 0
  for (let i = 0; i < count; i++) {
    const member = readMember(members, draft)
    if (member === UNUSUAL) return null
    read |= member
  }
  if ((read & READ_MARKER) !== READ_MARKER) return null
  if (isObject(draft)) return (read & READ_OBJECT) === READ_OBJECT ? draft : null
  const { versionId, isNull, isLatest, lastModified } = draft
  return { kind: 'deleteMarker', key, versionId, isNull, isLatest, lastModified }
}

const isObject = (draft: Draft): draft is Draft & { readonly kind: 'object' } => draft.kind === 'object'

/** Names are distinguished by their lengths first. The bit of the member that was read. */
function readMember(members: RowMembers, draft: Draft): number {
  const length = members.enterName()
  switch (length) {
    case NOWHERE:
      return UNUSUAL
    case 4:
      return readShort(members, draft)
    case 5:
      if (!members.isName(NEWER)) break
      members.step(length)
      draft.isLatest = members.isNil
      return members.stepOver() ? READ.isLatest : UNUSUAL
    case 6:
      if (!members.isName(IS_NULL)) break
      members.step(length)
      return readFlag(members, draft)
    case 9:
      return readOfNine(members, draft)
    case 12:
      if (members.isName(CUSTOMER_SEAL)) return UNUSUAL
      if (!members.isName(LAST_MODIFIED)) break
      members.step(length)
      return readTime(members, draft)
  }
  members.step(length)
  return members.stepOver() ? READ_OTHER : UNUSUAL
}

function readOfNine(members: RowMembers, draft: Draft): number {
  const isVersionId = members.isName(VERSION_ID)
  const isChecksums = !isVersionId && members.isName(CHECKSUMS)
  if (!isVersionId && !isChecksums && members.isName(COMPOSITE)) return UNUSUAL
  members.step(9)
  if (isVersionId) {
    const text = members.text()
    draft.versionId = text ?? ''
    return text === null ? UNUSUAL : READ.versionId
  }
  if (!isChecksums) return members.stepOver() ? READ_OTHER : UNUSUAL
  const names = namesIn(members)
  draft.algorithms = names ?? NO_NAMES
  return names === null ? UNUSUAL : READ_ALGORITHMS
}

function readShort(members: RowMembers, draft: Draft): number {
  const isSize = members.isName(SIZE)
  const isEtag = !isSize && members.isName(ETAG)
  const isKind = !isSize && !isEtag && members.isName(KIND)
  members.step(4)
  if (isSize) {
    const size = members.wholeNumber()
    draft.size = size ?? 0
    return size === null ? UNUSUAL : READ.size
  }
  if (isEtag) {
    const text = members.text()
    draft.etag = text ?? ''
    return text === null ? UNUSUAL : READ.etag
  }
  if (!isKind) return members.stepOver() ? READ_OTHER : UNUSUAL
  if (members.takeText(OBJECT)) return READ.kind
  draft.kind = 'deleteMarker'
  return members.takeText(DELETE_MARKER) ? READ.kind : UNUSUAL
}

function readFlag(members: RowMembers, draft: Draft): number {
  const flag = members.flag()
  draft.isNull = flag === true
  return flag === null ? UNUSUAL : READ.isNull
}

function readTime(members: RowMembers, draft: Draft): number {
  const ms = members.wholeNumber()
  draft.lastModified = ms ?? 0
  return ms === null ? UNUSUAL : READ.lastModified
}

const NO_NAMES: readonly string[] = Object.freeze([])
/** Lists of known names by their order: rows of a page mostly have the same. At most one for each order of the few names. */
const KNOWN_LISTS = new Map<number, readonly string[]>()

/** Names of the members of a map of texts. Null: it has another form. */
function namesIn(members: RowMembers): readonly string[] | null {
  const count = members.enterMap()
  if (count === NOWHERE) return null
  if (count > ALGORITHMS.length) return textsIn(members, count)
  const { at } = members
  let order = 0
  for (let i = 0; i < count; i++) {
    const number = knownName(members)
    if (number === 0) {
      members.step(at - members.at)
      return textsIn(members, count)
    }
    if (!members.stepOver()) return null
    order = order * (ALGORITHMS.length + 1) + number
  }
  const known = KNOWN_LISTS.get(order) ?? listOf(order)
  KNOWN_LISTS.set(order, known)
  return known
}

/** From 1 on, and steps over it; 0: none of them. */
function knownName(members: RowMembers): number {
  for (let n = 0; n < ALGORITHMS.length; n++) {
    const known = ALGORITHMS[n]
    if (known !== undefined && members.takeText(known.bytes)) return n + 1
  }
  return 0
}

function listOf(order: number): readonly string[] {
  const names: string[] = []
  for (let left = order; left > 0; left = Math.floor(left / (ALGORITHMS.length + 1)))
    names.unshift(ALGORITHMS[(left % (ALGORITHMS.length + 1)) - 1]?.name ?? '')
  return Object.freeze(names)
}

function textsIn(members: RowMembers, count: number): readonly string[] | null {
  const names: string[] = []
  for (let i = 0; i < count; i++) {
    const name = members.text()
    if (name === null || !members.stepOver()) return null
    names.push(name)
  }
  return names
}

/** Null: the row has no user metadata in the form that this build writes. */
function metadataFrom(payload: Buffer): ListedMetadata | null {
  const members = new RowMembers(payload)
  const count = members.enterMap()
  for (let i = 0; i < count; i++) {
    const length = members.enterName()
    if (length === NOWHERE) return null
    const isMetadata = length === METADATA.length && members.isName(METADATA)
    members.step(length)
    if (isMetadata) return pairsIn(members)
    if (!members.stepOver()) return null
  }
  return null
}

/** Members of a map of texts, with their values. */
function pairsIn(members: RowMembers): ListedMetadata | null {
  const count = members.enterMap()
  if (count === NOWHERE) return null
  const pairs: (readonly [string, string])[] = []
  for (let i = 0; i < count; i++) {
    const name = members.text()
    const value = members.text()
    if (name === null || value === null) return null
    pairs.push([name, value])
  }
  return pairs
}
