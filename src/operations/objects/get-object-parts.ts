/**
 * getObjectParts: authorize, as for reading the object -> exists -> one page of its parts, by their numbers, in the same cut.
 */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { PARTS_MAX } from '../../state-machine/objects/limits.ts'
import { dataOperation } from '../base/operation.ts'
import { clampPageSize } from '../base/page-size.ts'
import { versionTarget } from '../base/targets.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import { findObject, type FoundObject, type KeyedObjectName } from './object-checks.ts'
import { type DescribedPart, describedParts, partCountOf } from './object-parts.ts'
import { READ_REFUSALS } from './refusals.ts'

interface GetObjectPartsInput extends KeyedObjectName {
  /** 1 to 1000; undefined: 1000. */
  readonly maxParts: number | undefined
  /** Exclusive; undefined: from the first. */
  readonly partNumberMarker: number | undefined
}

export interface ObjectPartsPage extends FoundObject {
  /** Null: the object was not assembled, and `parts` is empty. */
  readonly partCount: number | null
  readonly parts: readonly DescribedPart[]
  readonly maxParts: number
  readonly partNumberMarker: number
  /** The number to continue behind; null when nothing is left. */
  readonly next: number | null
}

export const getObjectParts = dataOperation(
  {
    id: 'getObjectParts',
    requires: accessKey('read', 'key'),
    s3Action: S3_ACTIONS.getObject,
    refuses: READ_REFUSALS,
    target: versionTarget,
  },
  async (services, principal, input: GetObjectPartsInput): Promise<ObjectPartsPage> => {
    const limit = clampPageSize(input.maxParts)
    const after = Math.min(Math.max(input.partNumberMarker ?? 0, 0), PARTS_MAX)
    let parts: readonly DescribedPart[] = []
    const found = findObject(services, principal, input, (view, { id: bucketId }, object) => {
      if (object.kind === 'object') parts = describedParts(view, { bucketId, object }, { after, limit })
    })
    services.content.checkCustomerKey(
      findTenant(services, principal.tenantId),
      input.customerKey,
      found.object,
    )
    const partCount = partCountOf(found.object)
    const last = parts.at(-1)?.number ?? 0
    const next = partCount === null || last === 0 || last >= partCount ? null : last
    return { ...found, partCount, parts, maxParts: limit, partNumberMarker: after, next }
  },
)
