/**
 * The texts of the dialog that tests what an access key may do, in English, under the rules of strings.ts.
 */
export const ACCESS_TEST = {
  open: 'Test access',
  title: 'May this key do that?',
  about: 'The answer is what a request with this key would be answered now. Nothing is changed.',
  key: 'Access key',
  operation: 'Operation',
  objectKey: 'Object key',
  objectKeyHelp: 'For a listing: its prefix',
  address: 'From this address',
  addressHelp: 'Needed if the key is bound to addresses or the policy depends on the address',
  ask: 'Ask',
  yes: 'Yes, it may',
  no: 'No, it may not',
  decidedBy: 'Decided by',
  deciders: {
    tenant: 'the state of the tenant',
    key: 'the state of the key',
    binding: 'the addresses and certificates of the key',
    scopes: 'the scopes of the key',
    bucketPolicy: 'the policy of the bucket',
  },
  scope: 'Scope',
  statement: (index: number, sid: string | null) =>
    `Statement ${index + 1}${sid === null ? '' : ` (${sid})`}`,
  hidden: 'Only owners may read it.',
} as const
