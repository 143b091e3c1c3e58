/**
 * etcd through its HTTP gateway: small values, linearizable, without buckets, users or encryption.
 */
import { startEtcd } from '../bench/raft-system.ts'
import type { RaceRequest } from './race-socket.ts'
import { type Dialect, headOf, type RaceSystem } from './system.ts'

/** Debian's default is 2 GiB; a long race writes more. Bytes. */
const QUOTA = `${8 * 1024 ** 3}`
const VALUE_BYTES_MAX = 1024 * 1024

interface RangeAnswer {
  readonly kvs?: readonly { readonly value: string }[]
}

export async function startEtcdForRace(file: string, version: string): Promise<RaceSystem> {
  const started = await startEtcd(file, { 'quota-backend-bytes': QUOTA })
  const { endpoints, pids, folder } = started
  const dialects = endpoints.map((endpoint) => gatewayDialect(new URL(endpoint).host))
  return {
    name: 'etcd',
    version,
    durability: 'log flushed on two of three members',
    endpoints,
    pids,
    folder,
    dialect: (node) => dialects[node] ?? gatewayDialect(''),
    open: async () => undefined,
    stop: () => started.stop(),
  }
}

function gatewayDialect(host: string): Dialect {
  const headers = 'content-type: application/json\r\n'
  const call = (path: string, json: object): RaceRequest => {
    const body = Buffer.from(JSON.stringify(json))
    const head = headOf({ method: 'POST', path: `/v3/kv/${path}`, host, headers, bytes: body.length })
    return { head, body, status: 200, isHead: false }
  }
  const encoded = (key: string): string => Buffer.from(key).toString('base64')
  return {
    put: (key, body) => {
      const value = Buffer.isBuffer(body) ? body : Buffer.concat([...body])
      return call('put', { key: encoded(key), value: value.toString('base64') })
    },
    get: (key) => call('range', { key: encoded(key) }),
    head: null,
    delete: (key) => call('deleterange', { key: encoded(key) }),
    list: null,
    keysOf: () => [],
    objectOf: (answer) =>
      Buffer.from((JSON.parse(answer.toString()) as RangeAnswer).kvs?.[0]?.value ?? '', 'base64'),
    isPlain: false,
    objectBytesMax: VALUE_BYTES_MAX,
  }
}
