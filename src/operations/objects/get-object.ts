/**
 * getObject: authorize -> exists -> hand out a reader.
 *
 * The reader is lazy: no chunk is opened before the edge has settled conditions and range against the record. What an overwrite
 * may remove with the version is read in the same cut as the version.
 */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import type { ByteRange } from '../../content/range.ts'
import { pinRows } from '../../store/reads/pinned-rows.ts'
import type { PinnedRows } from '../../store/reads/pinned-rows.ts'
import { dataOperation } from '../base/operation.ts'
import { versionTarget } from '../base/targets.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import { findObject, type FoundObject, type KeyedObjectName } from './object-checks.ts'
import { type PlacedPart, placedPart } from './object-parts.ts'
import { READ_REFUSALS } from './refusals.ts'

export interface ReadableObject extends FoundObject {
  /** Authenticated bytes; breaks rather than giving wrong ones. */
  read(range: ByteRange): AsyncIterable<Uint8Array>
  /** Its bytes lie in the state of this node. */
  readonly isAtHand: boolean
  /** The same as `read`, in one piece and without a wait; only where they are at hand. Throws what reading throws. */
  readAtHand(range: ByteRange): Uint8Array
  /** Null: there is no part of this number. Throws BodyGoneError when the object was replaced since it was found. */
  part(number: number): PlacedPart | null
}

export const getObject = dataOperation(
  {
    id: 'getObject',
    requires: accessKey('read', 'key'),
    s3Action: S3_ACTIONS.getObject,
    coveredByUrl: { method: 'GET', isRequired: false },
    refuses: [...READ_REFUSALS, 'range_not_satisfiable', 'not_enough_replicas'],
    target: versionTarget,
  },
  async (services, principal, input: KeyedObjectName): Promise<ReadableObject> => {
    let pinned: PinnedRows = {}
    const { bucket, object } = findObject(services, principal, input, (view, { id }, version) => {
      if (version.kind === 'object') pinned = pinRows(view, id, version)
    })
    const tenant = findTenant(services, principal.tenantId)
    services.content.checkCustomerKey(tenant, input.customerKey, object)
    const source = { bucketId: bucket.id, object, pinned, customerKey: input.customerKey }
    return {
      bucket,
      object,
      read: (range) => services.content.read(tenant, source, range),
      isAtHand: object.body.kind === 'inline',
      readAtHand: (range) => services.content.readAtHand(tenant, source, range),
      part: (number) => placedPart(services.state, source, number),
    }
  },
)
