/**
 * Tests of the suite that are left out, because they are about what Holdfast does not have, each group with its reason.
 *
 * Rule: nothing is here because it fails. What is in scope and fails is a row of explanations.ts.
 */
export interface CollectedTest {
  readonly name: string
  /** Relative to the suite. */
  readonly file: string
  readonly marks: readonly string[]
}

export interface Exclusion {
  readonly subject: string
  readonly reason: string
  readonly marks: readonly string[]
  /** Of the name, which may be that of one test. */
  readonly names: readonly RegExp[]
}

/** The first row that fits a test counts. */
export const EXCLUSIONS: readonly Exclusion[] = [
  {
    subject: 'logging',
    reason: 'Access logs in buckets are not there; the audit log records every request.',
    marks: ['bucket_logging', 'bucket_logging_cleanup'],
    names: [/bucket_logging/],
  },
  {
    subject: 'KMS',
    reason:
      'Keys of a key management service are refused by name; everything is encrypted with keys of the cluster.',
    marks: [],
    names: [/(?:^|_)kms(?:_|$)/, /sse-kms/],
  },
  {
    subject: 'STS and IAM',
    reason: 'Keys, accounts and temporary credentials are made by the native APIs.',
    marks: ['iam_account', 'iam_user', 'iam_role', 'iam_tenant', 'iam_cross_account', 'test_of_sts'],
    names: [],
  },
  {
    subject: 'website',
    reason: 'A bucket is no website.',
    marks: ['s3website', 's3website_routing_rules', 's3website_redirect_location'],
    names: [],
  },
  {
    subject: 'ACL grants',
    reason:
      'An object is private to its tenant; grants and canned ACLs other than `private` are refused by name.',
    marks: [],
    names: [
      /(?:^|_)acl_(?:canned(?!_private)|grant|full|revoke|read|write|public|existing)/,
      /(?:(?<!bad_)canned|header|public|authpublic|nonpublicpolicy|publicpolicy|versioned_object|set_canned|with|put_obj|overwrite|new|policy|ignore_public|object)_acls?(?:$|_(?!default|create))/,
      /_(?:bucket|object)_acl$/,
      /_grants?(?:_|$)/,
      /^test_(?:bucket|object)_put_acl_mtime$/,
    ],
  },
  {
    subject: 'public access',
    reason: 'Nothing is public: no request without a signature reads or writes anything.',
    marks: [],
    names: [
      /anon(?:ymous)?(?:_|$)/,
      /^test_access_bucket_/,
      /^test_block_public_/,
      /_obj_public$/,
      /^test_object_raw_get(?:_bucket_gone|_object_gone|)$/,
      /^test_object_raw_authenticated/,
    ],
  },
]

export function exclusionOf({ name, marks }: CollectedTest): Exclusion | undefined {
  return EXCLUSIONS.find(
    (row) =>
      row.marks.some((mark) => marks.includes(mark)) || row.names.some((pattern) => pattern.test(name)),
  )
}
