/**
 * Opens a target from the command line, without a node: `directory:/mnt/backups`, or `s3:` with the address of a store and a bucket.
 *
 * Rules: the access key comes from the environment, under the names that its tools use; the region from AWS_REGION; Node.js reads the authority of a
 * store from NODE_EXTRA_CA_CERTS.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { buildConnector } from 'undici'
import { localTargets, type OpenTarget } from '../../backup/targets/open-target.ts'
import { S3Target } from '../../backup/targets/s3-target.ts'
import { isName } from '../../backup/targets/target.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { sourceCredentials } from '../base/store-credentials.ts'

const S3 = 's3:'
const CONNECT_MS = 10_000

/** Throws CommandError, TargetRefused. */
export const openLocalTarget: OpenTarget = (text) =>
  text.startsWith(S3) ? s3Target(text) : localTargets(text)

function s3Target(text: string): S3Target {
  const url = URL.canParse(text.slice(S3.length)) ? new URL(text.slice(S3.length)) : null
  const [bucket = '', ...below] = url?.pathname.split('/').filter(Boolean) ?? []
  const prefix = below.join('/')
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.search === ''
  if (!isPlain || bucket === '' || (prefix !== '' && !isName(prefix)))
    throw new CommandError(`'${text.slice(0, 200)}' names no bucket of an S3 store`, {
      code: 'invalid_argument',
      hint: 'Write it like s3:https://s3.example.net/backups, or with a prefix behind the bucket.',
      exitCode: EXIT.usage,
    })
  const credentials = sourceCredentials(undefined, { option: '--key-file', of: 'the target' })
  const store = {
    endpoint: new URL(url.origin),
    bucket,
    prefix,
    credentials,
    description: text,
    region: process.env['AWS_REGION'] || 'us-east-1',
  }
  return new S3Target(store, {
    connect: buildConnector({ timeout: CONNECT_MS }),
    now: Date.now,
    wait: (ms) => wait(ms),
    random: Math.random,
  })
}
