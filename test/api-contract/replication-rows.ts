/**
 * Replication of buckets to another site, beyond the contract.
 */
export const replicationRows = {
  'replication.get':
    'GET /buckets/{bucket}/replication: target and rules without the secret; 404 not_found where none is set [record 90]',
  'replication.set': 'PUT /buckets/{bucket}/replication: 200, target and rules are replaced [record 90]',
  'replication.delete': 'DELETE /buckets/{bucket}/replication: 204, again too [record 90]',
  'replication.status':
    'GET /buckets/{bucket}/replication/status: what is acknowledged here and not yet there, and what was given up [record 90]',
  'replication.resync':
    'POST /buckets/{bucket}/replication/resync: 202, what the bucket holds is queued [record 90]',
  'replication.retry':
    'POST /buckets/{bucket}/replication/retry: changes that were given up wait again [record 90]',
  'replication.compare':
    'POST /buckets/{bucket}/replication/compare: keys that differ from those of the target; nothing changes [record 90]',
  'replication.admin':
    'each of the seven without an admin scope over the whole bucket: 403 access_denied [record 90]',
  'replication.rules':
    'a target or rules that contradict themselves or could never act: 400 that names the field [record 90]',
  'replication.target':
    'a target that does not answer, refuses the credentials, has no such bucket, or is the bucket itself: 424 target_refused [record 90]',
  'replication.level': 'below feature level 7: 412 precondition_failed [record 90]',
} as const
