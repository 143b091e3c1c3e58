/**
 * Our side: three nodes of this checkout or of another, through the native API.
 */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freshCluster, type MeasuredCluster } from '../bench/cluster.ts'
import { logIn, makeBucket } from '../bench/log-in.ts'
import { DURABILITY } from '../bench/report.ts'
import { UsageError } from '../local/options.ts'
import { s3Nodes } from './s3-dialect.ts'
import type { RaceRequest } from './race-socket.ts'
import { type Dialect, headOf, LIST_KEYS, type RaceSystem } from './system.ts'

/** Of this checkout. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface Build {
  readonly name: string
  /** The folder of the checkout, with its node_modules. */
  readonly folder: string
  /** Settings (YAML) for its nodes; null: the defaults. */
  readonly configFile: string | null
}

/** The program that starts the nodes of a checkout. It builds them first when a source has changed, so no stale build is raced. */
export function clusterProgram(folder: string): string {
  const place = 'scripts/local/cluster.ts'
  const file = join(folder, place)
  if (!existsSync(file) || !existsSync(join(folder, 'node_modules')))
    throw new UsageError(
      `'${folder}' is no checkout that can be started: expected '${place}' and 'node_modules' in it`,
    )
  return file
}

/** Both names of a checkout: how the table calls it, and its commit. */
export function buildAt(folder: string, name: string, configFile: string | null): Build {
  clusterProgram(folder)
  return { name, folder, configFile }
}

export function versionOf(folder: string): string {
  const { status, stdout } = spawnSync(
    'git',
    ['-C', folder, 'describe', '--always', '--dirty', '--exclude=*'],
    { encoding: 'utf8' },
  )
  return status === 0 ? stdout.trim() : basename(folder)
}

export async function startHoldfast({ name, folder, configFile }: Build): Promise<RaceSystem> {
  const cluster = await freshCluster(configFile, clusterProgram(folder))
  return holdfastSystem(cluster, { name, version: versionOf(folder) })
}

/** The same nodes through their S3 API. */
export async function startHoldfastS3({ folder: checkout, configFile }: Build): Promise<RaceSystem> {
  const cluster = await freshCluster(configFile, clusterProgram(checkout))
  const native = holdfastSystem(cluster, { name: 'holdfast S3', version: versionOf(checkout) })
  const { endpoints, accessKeyId, secretKey } = cluster
  return { ...native, ...s3Nodes({ endpoints, bucket: 'race', accessKeyId, secretKey }) }
}

/** A running cluster as a system of the race. */
export function holdfastSystem(
  cluster: MeasuredCluster,
  { name, version }: Pick<RaceSystem, 'name' | 'version'>,
): RaceSystem {
  const { endpoints, pids, folder } = cluster
  const dialects = new Map<number, Dialect>()
  const bucket = `race-${randomBytes(6).toString('hex')}`
  let token = ''
  return {
    name,
    version,
    durability: DURABILITY,
    endpoints,
    pids,
    folder: folder ?? '',
    open: async () => {
      token = await logIn(cluster)
      await makeBucket(cluster, bucket)
    },
    dialect: (node) => {
      const host = new URL(endpoints[node] ?? '').host
      const found = dialects.get(node) ?? nativeDialect(host, { token, bucket })
      dialects.set(node, found)
      return found
    },
    stop: () => cluster.stop(),
  }
}

function nativeDialect(host: string, { token, bucket }: { token: string; bucket: string }): Dialect {
  const headers = `authorization: Bearer ${token}\r\n`
  const request = (method: string, key: string, status: number): RaceRequest => {
    const path = `/api/v1/buckets/${bucket}/objects/${key}`
    return {
      head: headOf({ method, path, host, headers, bytes: null }),
      body: null,
      status,
      isHead: method === 'HEAD',
    }
  }
  return {
    put: (key, body, bytes) => {
      const path = `/api/v1/buckets/${bucket}/objects/${key}`
      return { head: headOf({ method: 'PUT', path, host, headers, bytes }), body, status: 200, isHead: false }
    },
    get: (key) => request('GET', key, 200),
    head: (key) => request('HEAD', key, 200),
    delete: (key) => request('DELETE', key, 204),
    list: (after) => {
      const path = `/api/v1/buckets/${bucket}/objects?maxKeys=${LIST_KEYS}&startAfter=${encodeURIComponent(after)}`
      return {
        head: headOf({ method: 'GET', path, host, headers, bytes: null }),
        body: null,
        status: 200,
        isHead: false,
      }
    },
    keysOf: (answer) =>
      (
        JSON.parse(answer.toString()) as { readonly objects: readonly { readonly key: string }[] }
      ).objects.map(({ key }) => key),
    objectOf: (answer) => answer,
    isPlain: true,
    objectBytesMax: Number.POSITIVE_INFINITY,
  }
}
