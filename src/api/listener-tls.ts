/**
 * TLS of the data or admin listener: its certificate, and what becomes of it when the files change.
 *
 * Owns: the TLS options of a public listener. Knows nothing of: routes, who asks.
 * Rules: clients prove themselves with tokens; they are asked for a certificate where the configuration names who signs those, and one that
 * is optional and not good is as none. TLS 1.2 is the oldest that is spoken.
 */
import type { ServerOptions } from 'node:https'
import { CertificateFiles, certificateSamples, type Logger, type MetricSample } from '../../cluster/index.ts'
import type { ListenerTlsFiles } from '../config/types.ts'
import type { CertificateSource, CertifiedServer, TimeOfDay } from './listener-server.ts'

/** A client that connects and does not finish its handshake within this time is disconnected. ms */
const HANDSHAKE_MS_MAX = 20_000

export const SYSTEM_TIME: TimeOfDay = {
  wallTime: () => Date.now(),
  after(ms, callback) {
    // A node that could not start must be able to end, although what never listened is never closed.
    const timer = setTimeout(callback, ms).unref()
    return { cancel: () => clearTimeout(timer) }
  },
}

export class ListenerTls implements CertificateSource {
  readonly #listener: 'data' | 'admin'
  readonly #files: CertificateFiles
  readonly #clients: Pick<ServerOptions, 'requestCert' | 'rejectUnauthorized'>

  /** Throws StartError. */
  constructor(listener: 'data' | 'admin', { cert, key, clients }: ListenerTlsFiles) {
    this.#listener = listener
    this.#clients =
      clients === undefined ? {} : { requestCert: true, rejectUnauthorized: clients.areRequired }
    const use = `TLS of the ${listener} listener`
    this.#files = new CertificateFiles({
      files: { ca: clients?.ca ?? null, cert, key },
      code: 'listener_tls',
      use,
    })
  }

  get options(): ServerOptions {
    return {
      ...this.#files.material,
      ...this.#clients,
      minVersion: 'TLSv1.2',
      handshakeTimeout: HANDSHAKE_MS_MAX,
    }
  }

  /** Until the server closes, new connections see what the files hold. */
  follow(server: CertifiedServer, logger: Logger, clock: TimeOfDay = SYSTEM_TIME): void {
    const onChange = (): void => void server.setSecureContext(this.options)
    this.#files.watch({ clock, logger, onChange })
    server.once('close', () => this.#files.stop())
  }

  samples(): readonly MetricSample[] {
    return certificateSamples(this.#listener, this.#files)
  }
}
