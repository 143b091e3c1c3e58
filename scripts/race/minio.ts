/**
 * MinIO from a binary of the user: three servers with one folder each, one erasure set, through the S3 API.
 */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { startThree } from '../bench/raft-system.ts'
import { s3Nodes } from './s3-dialect.ts'
import type { RaceSystem } from './system.ts'

const BUCKET = 'race'
const NODES = [0, 1, 2]

export async function startMinio(file: string): Promise<RaceSystem> {
  const [user, password] = [randomBytes(8).toString('hex'), randomBytes(16).toString('hex')]
  const started = await startThree(
    'minio',
    (node, { folder, clientPort, peerPort }) => ({
      file,
      args: [
        'server',
        '--address',
        `127.0.0.1:${clientPort(node)}`,
        '--console-address',
        `127.0.0.1:${peerPort(node)}`,
        ...NODES.map((other) => `http://127.0.0.1:${clientPort(other)}${join(folder, `n${other + 1}`)}`),
      ],
      // It refuses folders of the root disk otherwise.
      env: { MINIO_ROOT_USER: user, MINIO_ROOT_PASSWORD: password, MINIO_CI_CD: '1' },
    }),
    '/minio/health/cluster',
  )
  const { endpoints, pids, folder } = started
  return {
    name: 'minio',
    version: spawnSync(file, ['--version'], { encoding: 'utf8' }).stdout?.split('\n')[0] ?? '',
    durability: 'shards and metadata flushed on every drive; the rename into place is not',
    endpoints,
    pids,
    folder,
    ...s3Nodes({ endpoints, bucket: BUCKET, accessKeyId: user, secretKey: password }),
    stop: () => started.stop(),
  }
}
