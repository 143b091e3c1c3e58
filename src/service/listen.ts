/**
 * Opens a listener of a node, or says why it cannot.
 */
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { StartError } from '../../cluster/index.ts'

/** `setting`: where the address stands. Resolves with the address, its port as the system gave it. Throws StartError. */
export async function listen(server: FastifyInstance, address: string, setting: string): Promise<string> {
  const colon = address.lastIndexOf(':')
  const host = address.slice(0, colon).replace(/^\[|\]$/g, '')
  try {
    await server.listen({ host, port: Number(address.slice(colon + 1)) })
  } catch (cause) {
    throw listenError(address, setting, cause)
  }
  const { port } = server.server.address() as AddressInfo
  return `${address.slice(0, colon)}:${port}`
}

function listenError(address: string, setting: string, cause: unknown): StartError {
  const code = (cause as NodeJS.ErrnoException).code ?? 'unknown'
  const taken = code === 'EADDRINUSE'
  const message = taken ? `The address ${address} is already in use` : `Cannot listen on ${address} (${code})`
  const hint = taken
    ? `Stop the program that uses it, or set ${setting} to a free port.`
    : `Set ${setting} to an address of this machine that this user may listen on.`
  return new StartError(taken ? 'address_in_use' : 'listen_failed', message, { hint, cause })
}
