/**
 * Tests of the suite that are in scope and fail, each with the reason.
 *
 * Rule: a reason says what the test expects and what happens here instead. A row whose tests all pass is reported as stale.
 */
export interface Explanation {
  readonly names: readonly RegExp[]
  readonly reason: string
}

export const EXPLANATIONS: readonly Explanation[] = [
  {
    names: [/^test_lifecycle.*(?:transition|cloud)/, /^test_(?:restore_|read_through)/],
    reason: 'There is one storage class: transitions and restores are refused by name with 501.',
  },
  {
    names: [/^test_lifecycle_get(?:_no_id)?$/],
    reason:
      'They set rules with the older `Prefix` of a rule and expect it back. It comes back as a `Filter`, which means the same.',
  },
  {
    names: [/^test_lifecycle_expiration_header_put$/],
    reason:
      'It expects `x-amz-expiration` in the answer to PutObject; it is in the answers to GetObject and HeadObject.',
  },
  {
    names: [/^test_lifecycle(?:v2)?_.*expiration/, /^test_delete_marker_expiration$/],
    reason:
      'They wait for days of some seconds, a setting of the server that the suite was written for. A day has 24 hours here.',
  },
  {
    names: [/_aws2$/, /^test_cors_presigned_.*_v2$/],
    reason:
      'They sign with version 2, which is refused with a message that names version 4, before anything else of the request is judged.',
  },
  {
    names: [
      /^test_post_object_(?!anonymous|authenticated_no_content_type|authenticated_request_bad|set_success|set_invalid_success|success_redirect)/,
      /^test_sse_s3_default_post_object_authenticated_request$/,
    ],
    reason:
      'They sign the policy of the form with version 2, which is refused with 400 and a message that names version 4. Forms signed with version 4 are tried by the SDKs in test/s3-clients.',
  },
  {
    names: [
      /^test_post_object_(?:authenticated_no_content_type|authenticated_request_bad|set_success|set_invalid_success|success_redirect)/,
      /^test_object_raw_get_x_amz_expires_/,
      /^test_cors_(?:origin_|header_option|presigned_)/,
      /^test_object_delete_key_bucket_gone$/,
      /^test_put_bucket_ownership_bucket_owner_enforced$/,
      /^test_(?:expected_bucket_owner|list_multipart_upload_owner|100_continue|object_acl_create_contentlength_none)$/,
      /^test_object_copy_not_owned_object_bucket$/,
    ],
    reason:
      'They begin with a bucket or an object that the public or another account may use, which is refused with 501: nothing here is public.',
  },
  {
    names: [
      /^test_bucket(?:v2)?_policy(?:_multipart|_different_tenant|_tenanted_bucket|_another_bucket|_upload_part_copy|_put_obj_copy_source(?:_meta)?|)$/,
      /^test_set_get_del_bucket_policy$/,
      /^test_multipart_upload_on_a_bucket_with_policy$/,
      /^test_head_object_404_with_policy_prefix$/,
      /^test_create_bucket_bucket_owner_enforced$/,
      /^test_get_nonpublicpolicy_principal_bucket_policy_status$/,
      /^test_get_public_block_deny_bucket_policy$/,
    ],
    reason:
      'They open a bucket to every caller or to another account by its policy. A policy here only takes away from what the scopes of a key give, and one that would allow something to every caller is refused when it is put.',
  },
  {
    names: [
      /^test_bucket_policy_(?:get|put)_obj.*_(?:tag|noenc|sse_s3)$/,
      /^test_bucket_policy_set_condition_operator/,
    ],
    reason:
      'They use condition keys of policies that are not known here (tags of the object, encryption headers, the referrer): a policy with one is refused when it is put, and is not ignored in part.',
  },
  {
    names: [
      /^test_object_create_bad_authorization_(?:empty|none)$/,
      /^test_bucket_create_bad_authorization_(?:empty|none)$/,
    ],
    reason:
      'They take the Authorization header away before botocore signs, which then adds it again: what arrives is a correct request. Requests without it are refused by test/api/s3/unproved.test.ts.',
  },
  {
    names: [/^test_object_create_bad_contentlength_none$/],
    reason:
      'It takes Content-Length away, and the HTTP client of botocore adds it again: what arrives is a correct request.',
  },
  {
    names: [/^test_object_write_with_chunked_transfer_encoding$/],
    reason:
      'A plain body of unknown length is refused with 411 MissingContentLength. Bodies of unknown length come in signed chunks (aws-chunked), as SDKs send them.',
  },
  {
    names: [/^test_delete_objects?_(?:current_|version_)?if_match(?:_last_modified_time|_size)$/],
    reason:
      'Conditions on size and time of a deletion belong to directory buckets of AWS and fail at AWS as well; they are refused by name with 501.',
  },
  {
    names: [/^test_delete_object_(?:current_|version_)?if_match$/],
    reason:
      'They expect that a deletion with If-Match succeeds where there is no object. Here the condition does not hold, which is 412; the tests are marked as failing at AWS.',
  },
  {
    names: [/^test_(?:account_usage|head_bucket_usage|bucket_head_extended|bucket_list(?:v2)?_unordered)$/],
    reason:
      'Extensions of Ceph to S3, marked as failing at AWS; parameters that are not known are refused with 501.',
  },
  {
    names: [/^test_(?:multipart_get_part|multipart_single_get_part|non_multipart_get_part)$/],
    reason:
      'They expect 400 InvalidPart for a part number that an object does not have. Here it is 416 InvalidPartNumber, as the reference of AWS has it.',
  },
  {
    names: [/^test_(?:object_checksum_|multipart_checksum_sha256)/],
    reason:
      'They expect BadDigest for a checksum that is no base64 of the right length. Here it is InvalidDigest, the code of AWS for a value that is not valid.',
  },
  {
    names: [/^test_(?:get_undefined_public_block|put_public_block|put_get_delete_public_block)$/],
    reason:
      'The public access block is always on, all four settings of it: GET says so, and a PUT that turns one off is refused with 501.',
  },
  {
    names: [
      /^test_create_bucket_(?:no_ownership_controls|bucket_owner_preferred|object_writer)$/,
      /^test_put_bucket_ownership_(?:bucket_owner_preferred|object_writer)$/,
      /^test_bucket_create_delete_bucket_ownership$/,
    ],
    reason:
      'Objects always belong to the tenant of the bucket: the ownership controls say BucketOwnerEnforced, and other values are refused with 501.',
  },
  {
    names: [/^test_(?:get|delete)_bucket_encryption_s3$/],
    reason:
      'They expect a bucket without encryption. Here, as at AWS since 2023, every bucket reports AES256.',
  },
  {
    names: [/^test_bucket_create_exists_nonowner$/, /^test_object_copy_not_owned_bucket$/],
    reason:
      'Names of buckets belong to a tenant: a bucket of another tenant takes no name away and is 404, not 403.',
  },
  {
    names: [/^test_versioning_bucket_(?:atomic|multipart)_upload_return_version_id$/],
    reason:
      'They expect no version id from a bucket with suspended versioning. Here it is `null`, as the documentation of AWS has it.',
  },
  {
    names: [/^test_object_lock_changing_mode_from_governance_without_bypass$/],
    reason:
      'A retention may be made stronger, from GOVERNANCE to COMPLIANCE, without the right to bypass it.',
  },
  {
    names: [/^test_object_lock_put_obj_retention$/],
    reason:
      'It retains an object until 2140. The longest retention is a setting, so that no mistake keeps bytes for a century.',
  },
  {
    names: [/^test_object_raw_put_authenticated_expired$/],
    reason:
      'It presigns with a negative lifetime and expects 403. Here it is 400 AuthorizationQueryParametersError, as at AWS.',
  },
  {
    names: [/^test_object_set_get_unicode_metadata$/],
    reason:
      'Metadata comes back as the bytes that were sent, which botocore reads as Latin-1; the test expects that they are read as UTF-8 and is marked as failing at Ceph.',
  },
  {
    names: [/^test_multipart_resend_first_finishes_last$/],
    reason:
      'With this botocore the test sends part 1 several times from within its own body and then names it several times in the completion, which is InvalidPartOrder.',
  },
  {
    names: [/^test_delete_marker_nonversioned$/],
    reason:
      'It expects `x-amz-delete-marker: false` with the 404 of an object that is not there, which AWS does not send.',
  },
  {
    names: [/^test_object_read_unreadable$/],
    reason:
      'A key that is no UTF-8 cannot exist here and is 404; the test expects 400 and is marked as failing at Ceph.',
  },
  {
    names: [/^test_get_object_torrent$/],
    reason: 'Torrents are refused by name with 501; the test expects 404.',
  },
]

export function explanationOf(name: string): Explanation | undefined {
  return EXPLANATIONS.find(({ names }) => names.some((pattern) => pattern.test(name)))
}
