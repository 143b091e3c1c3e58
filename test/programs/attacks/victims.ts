/** Requests of the tenant `acme` that attacks are measured by. */
import { randomBytes } from 'node:crypto'
import type { Victim } from './attack.ts'
import { ask } from './call.ts'

const NUMBER_BYTES = 8

/** `PUT` of a new object with other bytes each time. */
export function puts(bytes: number): Victim {
  const body = randomBytes(bytes)
  return {
    title: `PUT ${bytes / 1000} kB`,
    request: async ({ acme }, node, { n, signal }) => {
      const own = Buffer.from(body)
      own.writeBigUInt64BE(BigInt(n), own.length - NUMBER_BYTES)
      const url = `${node.dataUrl}/api/v1/buckets/${acme.bucket}/objects/victim/${n}`
      const headers = { authorization: `Bearer ${acme.token}` }
      const { status } = await ask(url, { method: 'PUT', headers, body: own, signal })
      if (status !== 200) throw new Error(`PUT gave ${status}`)
    },
  }
}
