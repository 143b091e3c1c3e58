/**
 * What is stored about an object beside its bytes, each answer read after: authorize -> bucket exists -> key is valid -> exists.
 * No byte of the object is read.
 */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import type { RetentionRecord } from '../../state-machine/versions/records.ts'
import { dataOperation } from '../base/operation.ts'
import { versionTarget } from '../base/targets.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import { findObject, type FoundObject, type KeyedObjectName, type ObjectName } from './object-checks.ts'
import { type PlacedPart, placedPart } from './object-parts.ts'
import { READ_REFUSALS } from './refusals.ts'

export interface DescribedObject extends FoundObject {
  /** As of getObject. */
  part(number: number): PlacedPart | null
}

export const headObject = dataOperation(
  {
    id: 'headObject',
    requires: accessKey('read', 'key'),
    s3Action: S3_ACTIONS.getObject,
    refuses: READ_REFUSALS,
    target: versionTarget,
  },
  async (services, principal, input: KeyedObjectName): Promise<DescribedObject> => {
    const { bucket, object } = findObject(services, principal, input)
    services.content.checkCustomerKey(findTenant(services, principal.tenantId), input.customerKey, object)
    const place = { bucketId: bucket.id, object }
    return { bucket, object, part: (number) => placedPart(services.state, place, number) }
  },
)

/** An object without tags has none, which is no error. [decisions 5] */
export const getObjectTags = dataOperation(
  {
    id: 'getObjectTags',
    requires: accessKey('read', 'key'),
    s3Action: S3_ACTIONS.getObjectTagging,
    refuses: ['method_not_allowed'],
    target: versionTarget,
  },
  async (services, principal, input: ObjectName): Promise<FoundObject> => {
    return findObject(services, principal, input)
  },
)

export interface RetainedObject extends FoundObject {
  readonly retention: RetentionRecord
}

/** An object whose retention was never set is not_found. [decisions 3, 16] */
export const getObjectRetention = dataOperation(
  {
    id: 'getObjectRetention',
    requires: accessKey('read', 'key'),
    s3Action: S3_ACTIONS.getObjectRetention,
    refuses: ['method_not_allowed'],
    target: versionTarget,
  },
  async (services, principal, input: ObjectName): Promise<RetainedObject> => {
    const found = findObject(services, principal, input)
    const { key, retention } = found.object
    const missing = found.bucket.objectLockEnabled ? 'retention' : 'objectLock'
    if (retention === null) throw new Refusal('not_found', `Object "${key}" has no retention`, { missing })
    return { ...found, retention }
  },
)

/** An object that was never held is not held. [decisions 3] */
export const getObjectLegalHold = dataOperation(
  {
    id: 'getObjectLegalHold',
    requires: accessKey('read', 'key'),
    s3Action: S3_ACTIONS.getObjectLegalHold,
    refuses: ['method_not_allowed'],
    target: versionTarget,
  },
  async (services, principal, input: ObjectName): Promise<FoundObject> => {
    return findObject(services, principal, input)
  },
)
