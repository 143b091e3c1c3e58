/**
 * What is approved: the content of a change as one text, the same for equal changes.
 *
 * Owns: which commands can carry an approval, and what of them belongs to the text. Knows nothing of: who asks, when approval is required.
 * Rule: everything that the caller chose is in the text, and nothing that differs when the request is repeated; the approver reads this text.
 */
import type { Command } from './commands.ts'

/** A change that the operation of this name makes. */
export interface ApprovedChange {
  readonly operation: string
  /** JSON */
  readonly text: string
}

/** Null: this command never needs an approval. */
export function approvedChangeOf(command: Command): ApprovedChange | null {
  switch (command.type) {
    case 'deleteTenant': {
      const { tenantId, reason } = command
      return changeOf('deleteTenant', { tenantId, reason })
    }
    case 'setBucketPolicy': {
      const { tenantId, name: bucket, policy } = command
      return changeOf('setTenantBucketPolicy', { tenantId, bucket, policy })
    }
    case 'deleteBucketPolicy': {
      const { tenantId, name: bucket } = command
      return changeOf('deleteTenantBucketPolicy', { tenantId, bucket })
    }
    case 'setObjectLegalHold': {
      const { tenantId, bucket, key, versionId, legalHold } = command
      return changeOf('setObjectLegalHold', { tenantId, bucket, key, versionId, legalHold })
    }
    case 'deleteObject': {
      const { tenantId, bucket, key, versionId, ifMatch, bypassGovernance } = command
      if (bypassGovernance === undefined) return null
      return changeOf('deleteObject', { tenantId, bucket, key, versionId, ifMatch, bypassGovernance })
    }
    case 'setObjectRetention': {
      const { tenantId, bucket, key, versionId, retention, bypassGovernance } = command
      if (bypassGovernance === undefined) return null
      return changeOf('setObjectRetention', { tenantId, bucket, key, versionId, retention, bypassGovernance })
    }
    case 'correctTime': {
      const { correction, reason } = command
      if (correction.kind !== 'confirm') return null
      return changeOf('confirmClusterTime', { withheldMs: correction.withheldMs, reason })
    }
    case 'useApproval': {
      return { operation: 'useApproval', text: command.change }
    }
    default:
      return null
  }
}

/** Members in the order in which they are given here. */
function changeOf(operation: string, members: object): ApprovedChange {
  return { operation, text: JSON.stringify({ operation, ...members }) }
}
