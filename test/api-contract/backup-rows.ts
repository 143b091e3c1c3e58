/**
 * Backups of the cluster, beyond the contract.
 */
export const backupRows = {
  'backups.create':
    'POST /cluster/backups: 202, a long operation of type backup; one at a time, otherwise 412 precondition_failed [record 86]',
  'backups.plan':
    'POST /cluster/backups?dryRun=true: chunks and bytes of the cluster, backups in the target [record 86]',
  'backups.list':
    'GET /cluster/backups: finished backups of this cluster in a target, in pages; one that cannot be read has its problem [record 86]',
  'backups.get': 'GET /cluster/backups/{backupId}: what it contains; 404 not_found [record 86]',
  'backups.verify':
    'POST /cluster/backups/{backupId}/verify: 202, a long operation of type backupVerify; one at a time; 404 not_found for a backup that is not there; a dry run says how much is read [record 95]',
  'backups.verification':
    'GET /cluster/backups/{backupId}: verification is null, or what the last one found: damages, and the versions that need them [record 95]',
  'backups.target':
    'a target that is none, or leads out of backup.directory: 400 invalid_argument; one that does not answer: 412 [record 86]',
  'backups.tenant':
    'with tenantId: a backup of that tenant alone, shown as such; 404 not_found for one that does not exist or is deleted [record 95]',
  'backups.tenant.plan': 'a dry run with tenantId: chunks and bytes of that tenant [record 95]',
  'backups.restore-into':
    'POST /cluster/backups/{backupId}/restore: 202, a long operation of type backupRestore that names source and destination; one at a time [record 94]',
  'backups.restore-into.refused':
    'a destination that exists: 409; a tenant or bucket that is not there: 404; a quota that does not fit: quota_exceeded; a backup that is damaged, of a later version or under another master key: 412 [record 94]',
  'backups.level': 'below feature level 7: 412 precondition_failed [record 86]',
} as const
