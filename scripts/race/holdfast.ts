/**
 * Our side: three nodes of this checkout or of another, through the native API.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { freshCluster } from '../bench/cluster.ts'
import { logIn, makeBucket } from '../bench/log-in.ts'
import { DURABILITY } from '../bench/report.ts'
import { UsageError } from '../local/options.ts'
import type { RaceRequest } from './race-socket.ts'
import { type Dialect, headOf, LIST_KEYS, type RaceSystem } from './system.ts'

const BUCKET = 'race'

export interface Build {
  readonly name: string
  /** The folder of the checkout, with its node_modules. */
  readonly folder: string
  /** Settings (YAML) for its nodes; null: the defaults. */
  readonly configFile: string | null
}

/** The program that starts the nodes of a checkout: its sources as they are, so that no stale build is raced. */
export function clusterProgram(folder: string): string {
  const places = ['scripts/local/cluster.ts', 'dist/scripts/local/cluster.js']
  const found = places.map((place) => join(folder, place)).find((file) => existsSync(file))
  if (found === undefined || !existsSync(join(folder, 'node_modules')))
    throw new UsageError(
      `'${folder}' is no checkout that can be started: expected '${places[0]}' and 'node_modules' in it`,
    )
  return found
}

/** Both names of a checkout: how the table calls it, and its commit. */
export function buildAt(folder: string, name: string, configFile: string | null): Build {
  clusterProgram(folder)
  return { name, folder, configFile }
}

function versionOf(folder: string): string {
  const { status, stdout } = spawnSync(
    'git',
    ['-C', folder, 'describe', '--always', '--dirty', '--exclude=*'],
    { encoding: 'utf8' },
  )
  return status === 0 ? stdout.trim() : basename(folder)
}

export async function startHoldfast({ name, folder: checkout, configFile }: Build): Promise<RaceSystem> {
  const cluster = await freshCluster(configFile, clusterProgram(checkout))
  const { endpoints, pids, folder } = cluster
  const dialects = new Map<number, Dialect>()
  let token = ''
  return {
    name,
    version: versionOf(checkout),
    durability: DURABILITY,
    endpoints,
    pids,
    folder: folder ?? '',
    open: async () => {
      token = await logIn(cluster)
      await makeBucket(cluster, BUCKET)
    },
    dialect: (node) => {
      const found = dialects.get(node) ?? nativeDialect(new URL(endpoints[node] ?? '').host, token)
      dialects.set(node, found)
      return found
    },
    stop: () => cluster.stop(),
  }
}

function nativeDialect(host: string, token: string): Dialect {
  const headers = `authorization: Bearer ${token}\r\n`
  const request = (method: string, key: string, status: number): RaceRequest => {
    const path = `/api/v1/buckets/${BUCKET}/objects/${key}`
    return {
      head: headOf({ method, path, host, headers, bytes: null }),
      body: null,
      status,
      isHead: method === 'HEAD',
    }
  }
  return {
    put: (key, body, bytes) => {
      const path = `/api/v1/buckets/${BUCKET}/objects/${key}`
      return { head: headOf({ method: 'PUT', path, host, headers, bytes }), body, status: 200, isHead: false }
    },
    get: (key) => request('GET', key, 200),
    head: (key) => request('HEAD', key, 200),
    delete: (key) => request('DELETE', key, 204),
    list: (after) => {
      const path = `/api/v1/buckets/${BUCKET}/objects?maxKeys=${LIST_KEYS}&startAfter=${encodeURIComponent(after)}`
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
