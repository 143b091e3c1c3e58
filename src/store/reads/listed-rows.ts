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

interface Draft {
  kind: string | null
  versionId: string | null
  isNull: boolean | null
  isLatest: boolean | null
  lastModified: number | null
  size: number | null
  etag: string | null
  algorithms: readonly string[] | null
}

/** Null: the row has another form than the rows that this build writes, or a member that is rare. */
function listedFrom(key: string, payload: Buffer): ListedVersion | null {
  const members = new RowMembers(payload)
  const draft: Draft = {
    kind: null,
    versionId: null,
    isNull: null,
    isLatest: null,
    lastModified: null,
    size: null,
    etag: null,
    algorithms: null,
  }
  const count = members.enterMap()
  if (count === NOWHERE) return null
  for (let i = 0; i < count; i++) if (!readMember(members, draft)) return null
  const { kind, versionId, isNull, isLatest, lastModified, size, etag, algorithms } = draft
  if (versionId === null || isNull === null || isLatest === null || lastModified === null) return null
  if (kind === 'deleteMarker') return { kind, key, versionId, isNull, isLatest, lastModified }
  if (kind !== 'object' || size === null || etag === null || algorithms === null) return null
  const place = { kind, key, versionId, isNull, isLatest, lastModified } as const
  return { ...place, size, etag, algorithms, isComposite: false }
}

/** Names are distinguished by their lengths first. False: the whole record has to be decoded. */
function readMember(members: RowMembers, draft: Draft): boolean {
  const length = members.enterName()
  switch (length) {
    case NOWHERE:
      return false
    case 4:
      return readShort(members, draft)
    case 5:
      if (!members.isName(NEWER)) break
      members.step(length)
      draft.isLatest = members.isNil
      return members.stepOver()
    case 6:
      if (!members.isName(IS_NULL)) break
      members.step(length)
      return (draft.isNull = members.flag()) !== null
    case 9:
      if (members.isName(VERSION_ID)) {
        members.step(length)
        return (draft.versionId = members.text()) !== null
      }
      if (members.isName(COMPOSITE)) return false
      if (!members.isName(CHECKSUMS)) break
      members.step(length)
      return (draft.algorithms = namesIn(members)) !== null
    case 12:
      if (members.isName(CUSTOMER_SEAL)) return false
      if (!members.isName(LAST_MODIFIED)) break
      members.step(length)
      return (draft.lastModified = members.wholeNumber()) !== null
  }
  members.step(length)
  return members.stepOver()
}

function readShort(members: RowMembers, draft: Draft): boolean {
  const isSize = members.isName(SIZE)
  const isEtag = !isSize && members.isName(ETAG)
  const isKind = !isSize && !isEtag && members.isName(KIND)
  members.step(4)
  if (isSize) return (draft.size = members.wholeNumber()) !== null
  if (isEtag) return (draft.etag = members.text()) !== null
  if (isKind) return (draft.kind = members.text()) !== null
  return members.stepOver()
}

/** Members of a map of texts. */
function namesIn(members: RowMembers): readonly string[] | null {
  const count = members.enterMap()
  if (count === NOWHERE) return null
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
