/** The URLs at which clients reach this node, by its configuration. */
import type { Config } from './types.ts'

/** Without a slash at the end. */
export function dataUrlOf({ listeners, dataTls }: Pick<Config, 'listeners' | 'dataTls'>): string {
  return listeners.publicUrl ?? urlOf(listeners.data, dataTls !== null)
}

/** Where signed URLs begin. Without a slash at the end. */
export function signedUrlBaseOf(config: Pick<Config, 'listeners' | 'dataTls'>): string {
  return config.listeners.contentOrigin ?? dataUrlOf(config)
}

/** Without a slash at the end. */
export function adminUrlOf({ listeners, adminTls }: Pick<Config, 'listeners' | 'adminTls'>): string {
  return urlOf(listeners.admin, adminTls !== null)
}

function urlOf(address: string, hasTls: boolean): string {
  return `${hasTls ? 'https' : 'http'}://${address}`
}
