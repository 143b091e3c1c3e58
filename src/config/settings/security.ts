/** The settings of keys, tokens and links. */
import type { Setting } from './setting.ts'
import { DAY, SECOND } from './units.ts'

export const SECURITY_SETTINGS = [
  {
    name: 'security.master_key_file',
    kind: 'path',
    fallback: null,
    meaning: 'the file with the master key; the same on every node',
  },
  {
    name: 'security.native_api_token_ttl',
    kind: 'duration',
    fallback: '1h',
    min: 60 * SECOND,
    max: DAY,
    meaning: 'the lifetime of a bearer token',
  },
  {
    name: 'security.max_presign_ttl',
    kind: 'duration',
    fallback: '7d',
    min: SECOND,
    max: 7 * DAY,
    meaning: 'the longest lifetime of a signed URL',
  },
  {
    name: 'security.max_retention',
    kind: 'duration',
    fallback: '36500d',
    min: DAY,
    max: 2_900_000 * DAY,
    meaning: 'how far ahead the retention of an object may end',
  },
  {
    name: 'security.max_temporary_ttl',
    kind: 'duration',
    fallback: '12h',
    min: 60 * SECOND,
    max: 7 * DAY,
    meaning: 'the longest lifetime of a temporary credential',
  },
  {
    name: 'security.s3_region',
    kind: 'text',
    fallback: 'us-east-1',
    pattern: /^[a-z0-9-]{1,64}$/,
    meaning: 'the region that the S3 API reports; requests may be signed for any region',
  },
  {
    name: 'security.second_approval',
    kind: 'text',
    fallback: 'none',
    pattern: /^(none|delete_tenant|lower_locks|delete_tenant,lower_locks)$/,
    meaning:
      'what needs the approval of a second owner: none, delete_tenant, lower_locks or delete_tenant,lower_locks; the same on every node',
  },
] as const satisfies readonly Setting[]
