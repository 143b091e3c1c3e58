/**
 * uploadPartCopy: authorize -> bucket exists -> key is valid -> upload exists -> source: authorize, exists, conditions, range -> the steps
 * of ingest-part.ts, over bytes that this node reads itself. [S3 UploadPartCopy]
 *
 * Rules: the caller needs write scope on the target and read scope on the source. The bytes are read and digested, because the tag of the
 * part is a digest of them; a chunk that the tenant has already is not stored again. Nothing is read ahead of what is stored.
 */
import type { KeyObject } from 'node:crypto'
import { authorize } from '../../access/authorize.ts'
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import { requireLevel } from '../../commands/level-gate.ts'
import { nodeSource } from '../../content/node-source.ts'
import type { ByteRange } from '../../content/range.ts'
import { BodyGoneError } from '../../content/read-content.ts'
import type { PartRecord } from '../../state-machine/bodies/records.ts'
import { pinRows, type PinnedRows } from '../../store/reads/pinned-rows.ts'
import { dataOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { keyTarget } from '../base/targets.ts'
import type { ReadConditions } from '../objects/conditions.ts'
import { checkSource, findSource } from '../objects/copy-source.ts'
import type { FoundObject, KeyedObjectName } from '../objects/object-checks.ts'
import { READ_REFUSALS } from '../objects/refusals.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import { findUpload, type UploadName } from './find-upload.ts'
import { ingestPart } from './ingest-part.ts'

type Pieces = AsyncIterable<Uint8Array>

export interface UploadPartCopyInput extends UploadName {
  readonly partNumber: number
  readonly customerKey?: KeyObject | undefined
  readonly source: KeyedObjectName
  /** On the source. */
  readonly conditions: ReadConditions
  /** Of the source; null: all of it. */
  readonly range: ByteRange | null
  /** Gives the pieces of the source in turns with the work of other tenants. */
  readonly inTurns: (pieces: Pieces) => Pieces
  readonly signal: AbortSignal
}

export interface CopiedPart {
  readonly part: PartRecord
  readonly source: FoundObject
}

const LOOKS_MAX = 2
/** From this feature level on, the command names its source. */
const NAMES_SOURCE_LEVEL = 4

export const uploadPartCopy = dataOperation(
  {
    id: 'uploadPartCopy',
    // Of the target; the source is authorized as getObject.
    requires: accessKey('write', 'key'),
    s3Action: S3_ACTIONS.putObject,
    refuses: [...READ_REFUSALS, 'range_not_satisfiable', 'not_enough_replicas'],
    target: keyTarget,
  },
  async (services, principal, input: UploadPartCopyInput): Promise<CopiedPart> => {
    for (let look = 1; ; look++) {
      try {
        return await copyPart(services, principal, input)
      } catch (error) {
        // The source was replaced while it was read, and no answer has left yet.
        if (!(error instanceof BodyGoneError) || look === LOOKS_MAX) throw error
        await services.cluster.readBarrier()
        authorize(principal, uploadPartCopy, keyTarget(input), services.state)
      }
    }
  },
)

async function copyPart(
  services: Services,
  principal: AccessKeyPrincipal,
  input: UploadPartCopyInput,
): Promise<CopiedPart> {
  const found = findUpload(services, principal, input)
  let pinned: PinnedRows = {}
  const source = findSource(services, principal, input.source, (view, { id }, version) => {
    if (version.kind === 'object') pinned = pinRows(view, id, version)
  })
  checkSource(input.conditions, source)
  const { object } = source
  const range = rangeIn(object, input.range)
  const { partNumber, customerKey, signal, inTurns } = input
  // Otherwise the commit would be refused once all bytes are stored.
  await requireLevel(services.cluster, NAMES_SOURCE_LEVEL)
  const tenant = findTenant(services, principal.tenantId)
  const bytes = { bucketId: source.bucket.id, object, pinned, customerKey: input.source.customerKey }
  const pieces = nodeSource(inTurns(services.content.read(tenant, bytes, range)))
  const expectedSize = range.end - range.start
  const part = {
    partNumber,
    customerKey,
    source: pieces,
    expectedSize,
    claimed: new Map(),
    copied: { bucket: source.bucket.name, key: object.key, versionId: object.versionId },
    etag: 'md5',
    signal,
  } as const
  try {
    return { part: await ingestPart(services, principal, found, part), source }
  } finally {
    // The upload may have ended before the source did.
    await pieces.return(undefined)
  }
}

/** Throws Refusal range_not_satisfiable: a part is exactly the bytes that were asked for. */
function rangeIn({ key, size }: FoundObject['object'], range: ByteRange | null): ByteRange {
  if (range === null) return { start: 0, end: size }
  if (range.start < range.end && range.end <= size) return range
  throw new Refusal(
    'range_not_satisfiable',
    `The bytes ${range.start} to ${range.end - 1} are not inside the ${size} bytes of the source "${key}"`,
    { headers: { 'content-range': `bytes */${size}` }, details: { size } },
  )
}
