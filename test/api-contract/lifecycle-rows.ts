/**
 * Lifecycle rules of buckets, beyond the contract.
 */
export const lifecycleRows = {
  'lifecycle.get': 'GET /buckets/{bucket}/lifecycle: the rules; 404 not_found where none are set [record 85]',
  'lifecycle.set': 'PUT /buckets/{bucket}/lifecycle: 200, all rules are replaced [record 85]',
  'lifecycle.delete': 'DELETE /buckets/{bucket}/lifecycle: 204, again too [record 85]',
  'lifecycle.preview':
    'POST /buckets/{bucket}/lifecycle/preview: what rules would do now; nothing changes [record 85]',
  'lifecycle.admin':
    'each of the four without an admin scope over the whole bucket: 403 access_denied [record 85]',
  'lifecycle.rules': 'rules that contradict themselves or do nothing: 400 that names the field [record 85]',
  'lifecycle.level': 'below feature level 6: 412 precondition_failed [record 85]',
} as const
