/**
 * The access control list of a version, which is the same for all: its tenant owns it, and no one else has any grant. Each after: authorize -> exists.
 */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { dataOperation } from '../base/operation.ts'
import { versionTarget } from '../base/targets.ts'
import { findObject, type FoundObject, type ObjectName } from './object-checks.ts'

export const getObjectAcl = dataOperation(
  {
    id: 'getObjectAcl',
    requires: accessKey('read', 'key'),
    s3Action: S3_ACTIONS.getObjectAcl,
    refuses: ['method_not_allowed'],
    target: versionTarget,
  },
  async (services, principal, input: ObjectName): Promise<FoundObject> =>
    findObject(services, principal, input),
)

/** That it stays what it is. */
export const confirmObjectAcl = dataOperation(
  {
    id: 'confirmObjectAcl',
    requires: accessKey('write', 'key'),
    s3Action: S3_ACTIONS.putObjectAcl,
    refuses: ['method_not_allowed'],
    target: versionTarget,
  },
  async (services, principal, input: ObjectName): Promise<FoundObject> =>
    findObject(services, principal, input),
)
