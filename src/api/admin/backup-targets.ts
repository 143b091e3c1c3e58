/**
 * Backup targets, on the wire. Rule: no answer contains the secret of a target.
 */
import Type, { type Static } from 'typebox'
import {
  deleteBackupTarget,
  getBackupTarget,
  listBackupTargets,
  setBackupTarget,
} from '../../operations/backup-plans/backup-targets.ts'
import { backupKeys } from '../../state-machine/backup-plans/keys.ts'
import type { BackupTargetRecord } from '../../state-machine/backup-plans/records.ts'
import { documented } from '../documented.ts'
import { adminRoute } from '../route.ts'
import { orNull, Time, timeText } from '../wire.ts'
import { changeRoute, removalRoute } from './mutation.ts'

const TARGET_PATH = '/cluster/backup-targets/{name}'
const TARGET = { name: 'nas' }

const Directory = Type.Object(
  {
    folder: Type.Optional(
      Type.String({
        maxLength: 512,
        description:
          'Below backup.directory of each node, which has to be the same file system on all of them; absent: that directory itself',
      }),
    ),
  },
  { additionalProperties: false },
)
const Place = {
  endpoint: Type.String({
    maxLength: 2048,
    description: 'Such as https://s3.example.net, without a bucket; buckets are named in the path',
  }),
  bucket: Type.String({ maxLength: 63 }),
  prefix: Type.Optional(Type.String({ maxLength: 256, description: 'Below which everything lies' })),
  region: Type.Optional(
    Type.String({ maxLength: 64, description: 'Of the signatures; us-east-1 without a value' }),
  ),
  accessKeyId: Type.String({ maxLength: 128 }),
}
const S3 = Type.Object(
  {
    ...Place,
    secretKey: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description:
          'Kept sealed, and never shown; absent: the one that is kept for this endpoint and access key',
      }),
    ),
    ca: Type.Optional(
      orNull(
        Type.String({
          maxLength: 65_536,
          description: 'PEM of the authority of an https endpoint; null: the authorities that Node.js knows',
        }),
      ),
    ),
  },
  { additionalProperties: false },
)
const TargetBody = Type.Object(
  { directory: Type.Optional(Directory), s3: Type.Optional(S3) },
  { additionalProperties: false, ...documented({ minProperties: 1, maxProperties: 1 }) },
)

export const BackupTargetView = Type.Object(
  {
    name: Type.String(),
    directory: orNull(Type.Object({ folder: Type.String() }, { additionalProperties: false })),
    s3: orNull(
      Type.Object(
        {
          ...Place,
          prefix: Type.String(),
          region: Type.String(),
          ca: orNull(Type.String()),
        },
        { additionalProperties: false, description: 'Without the secret' },
      ),
    ),
    updatedAt: Time,
  },
  { additionalProperties: false },
)
const TargetList = Type.Object({ targets: Type.Array(BackupTargetView) }, { additionalProperties: false })

export const backupTargetRoutes = [
  adminRoute(
    listBackupTargets,
    {
      method: 'GET',
      path: '/cluster/backup-targets',
      summary: 'List the places where backups go',
      success: {
        status: 200,
        description: 'All of them, by name',
        content: { type: 'application/json', schema: TargetList },
      },
      example: {},
    },
    async (services, principal) => ({
      kind: 'json',
      body: { targets: (await listBackupTargets(services, principal)).map(targetView) },
    }),
  ),

  adminRoute(
    getBackupTarget,
    {
      method: 'GET',
      path: TARGET_PATH,
      summary: 'Get a place where backups go, without its secret',
      success: {
        status: 200,
        description: 'The target',
        content: { type: 'application/json', schema: BackupTargetView },
      },
      example: { params: TARGET },
    },
    async (services, principal, { params }) => ({
      kind: 'json',
      body: targetView(await getBackupTarget(services, principal, params)),
    }),
  ),

  changeRoute(
    setBackupTarget,
    {
      method: 'PUT',
      path: TARGET_PATH,
      summary: 'Set a place where backups go, once it has taken, shown and removed a few bytes',
      description:
        'The asked node tries the place, in a dry run too, and leaves a marker in it; a backup is written only where the marker lies. A directory has to be the same file system on each node, because whichever node is on duty writes to it.',
      body: { schema: TargetBody },
      answers: 'The target, or the plan of a dry run',
      view: BackupTargetView,
      plan: Type.Object({ before: orNull(BackupTargetView), after: orNull(BackupTargetView) }),
      example: { params: TARGET, body: { directory: { folder: 'weekly' } } },
    },
    {
      run: (services, principal, { params, body }) =>
        setBackupTarget(services, principal, { ...params, ...body }),
      answer: targetView,
      plan: async ({ state }, { params: { name }, body }, outcome) => {
        const present = state.get(backupKeys.backupTarget(name))
        const before = present === undefined ? null : targetView(present)
        const warnings = [
          ...(body.directory === undefined ? [] : [SAME_EVERYWHERE]),
          ...(body.s3?.endpoint.startsWith('http:') === true ? [PLAIN_HTTP] : []),
        ]
        return { plan: { before, after: outcome === null ? null : targetView(outcome) }, warnings }
      },
    },
  ),

  removalRoute(
    deleteBackupTarget,
    {
      method: 'DELETE',
      path: TARGET_PATH,
      summary: 'Forget a place where backups go; what lies there stays, and repeating it is no error',
      plan: Type.Object({ before: orNull(BackupTargetView) }),
      example: { params: TARGET },
    },
    {
      run: (services, principal, { params }) => deleteBackupTarget(services, principal, params),
      plan: async ({ state }, { params: { name } }) => {
        const present = state.get(backupKeys.backupTarget(name))
        return { plan: { before: present === undefined ? null : targetView(present) }, warnings: [] }
      },
    },
  ),
]

const SAME_EVERYWHERE =
  'Only the asked node tried the directory: backup.directory has to be the same file system on every node, because whichever node is on duty writes to it'
const PLAIN_HTTP =
  'The endpoint has no TLS: what is sent is sealed, but names, sizes and the access key id can be read on the way'

function targetView({ name, place, updatedAt }: BackupTargetRecord): Static<typeof BackupTargetView> {
  const shown = { name, updatedAt: timeText(updatedAt) }
  if (place.kind === 'directory') return { ...shown, directory: { folder: place.folder }, s3: null }
  const { endpoint, bucket, prefix, region, accessKeyId, ca } = place
  return { ...shown, directory: null, s3: { endpoint, bucket, prefix, region, accessKeyId, ca } }
}
