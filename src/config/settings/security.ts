/** The settings of keys, tokens and links. */
import type { Setting } from './setting.ts'
import { DAY, SECOND } from './units.ts'

export const SECURITY_SETTINGS = [
  {
    name: 'security.master_key_file',
    kind: 'path',
    fallback: null,
    meaning: 'the file with the master key; the same on every node',
    advice:
      'Set security.master_key_file to the file that `holdfast master-key create` made, for example security.master_key_file: /etc/holdfast/master.key.',
  },
  {
    name: 'security.native_api_token_ttl',
    kind: 'duration',
    fallback: '1h',
    min: 60 * SECOND,
    max: DAY,
    meaning: 'the lifetime of a bearer token',
    advice: 'Set security.native_api_token_ttl to a duration, for example security.native_api_token_ttl: 1h.',
  },
  {
    name: 'security.max_presign_ttl',
    kind: 'duration',
    fallback: '7d',
    min: SECOND,
    max: 7 * DAY,
    meaning: 'the longest lifetime of a signed URL',
    advice: 'Set security.max_presign_ttl to a duration, for example security.max_presign_ttl: 7d.',
  },
  {
    name: 'security.max_retention',
    kind: 'duration',
    fallback: '36500d',
    min: DAY,
    max: 2_900_000 * DAY,
    meaning: 'how far ahead the retention of an object may end',
    advice: 'Set security.max_retention to a duration in days, for example security.max_retention: 3650d.',
  },
  {
    name: 'security.max_temporary_ttl',
    kind: 'duration',
    fallback: '12h',
    min: 60 * SECOND,
    max: 7 * DAY,
    meaning: 'the longest lifetime of a temporary credential',
    advice: 'Set security.max_temporary_ttl to a duration, for example security.max_temporary_ttl: 12h.',
  },
  {
    name: 'security.s3_region',
    kind: 'text',
    fallback: 'us-east-1',
    pattern: /^[a-z0-9-]{1,64}$/,
    meaning: 'the region that the S3 API reports; requests may be signed for any region',
    advice:
      'Set security.s3_region to a name in lower-case letters, digits and hyphens, for example security.s3_region: eu-west-1.',
  },
  {
    name: 'security.second_approval',
    kind: 'text',
    fallback: 'none',
    pattern: /^(none|delete_tenant|lower_locks|delete_tenant,lower_locks)$/,
    meaning:
      'what needs the approval of a second owner: none, delete_tenant, lower_locks or delete_tenant,lower_locks; the same on every node',
    advice:
      'Set security.second_approval to none or to the kinds of change with a comma between them, for example security.second_approval: delete_tenant,lower_locks.',
  },
] as const satisfies readonly Setting[]
