/**
 * The certificate files of one listener: read at the start, and again whenever they change.
 *
 * Owns: which contents are in use, and for how long they are valid. Knows nothing of: sockets, who uses them.
 * Rules: certificate and key are replaced together or not at all, so an unfinished copy changes nothing. Unusable contents are
 * reported once, and the previous pair stays. Contents are compared, because file times are unreliable.
 */
import { createHash, createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import type { Clock, Timer } from '../base/clock.ts'
import { type Logger, StartError } from '../base/types.ts'

export interface CertificateFilesOptions {
  /** `ca` null: no client is asked for a certificate. */
  readonly files: { readonly ca: string | null; readonly cert: string; readonly key: string }
  /** The prefix of its error codes. */
  readonly code: 'peer_tls' | 'listener_tls'
  /** E.g. "TLS of the data listener". */
  readonly use: string
  /** Throws StartError for a certificate that is valid but not the right one for this use. */
  readonly accept?: (certificate: X509Certificate) => void
}

export interface TlsMaterial {
  readonly ca?: Buffer
  readonly cert: Buffer
  readonly key: Buffer
}

export interface CertificateWatch {
  readonly clock: Pick<Clock, 'after' | 'wallTime'>
  readonly logger: Logger
  /** New contents are in use from here on. */
  readonly onChange: () => void
}

interface Contents extends TlsMaterial {
  readonly digest: string
}

interface Validity {
  /** In the format of OpenSSL. */
  readonly until: string
  /** ms since 1970 */
  readonly certificateEndsAt: number
  /** With several authorities, during a replacement: the earliest end. */
  readonly authorityEndsAt: number | null
}

/** A new certificate is in use within this time after its last file was written. ms */
const LOOK_EVERY_MS = 10_000

/** Those of the listeners of this thread that are watched: three in a node. */
const WATCHED = new Map<CertificateFiles, CertificateWatch>()

/** Looks at all watched files now instead of with their next turn. Never rejects: what it finds is logged. */
export async function lookAtCertificates(): Promise<void> {
  await Promise.all([...WATCHED].map(([files, watch]) => files.look(watch)))
}

export class CertificateFiles {
  readonly #options: CertificateFilesOptions
  #contents: Contents
  #validity: Validity
  /** The digest of the contents that were read last, usable or not. */
  #lastDigest: string
  #isStale = false
  #timer: Timer | null = null
  #stopped = false

  /** Throws StartError. */
  constructor(options: CertificateFilesOptions) {
    this.#options = options
    this.#contents = this.#digested(
      this.#paths().map((path) => this.#reading(path, () => readFileSync(path))),
    )
    this.#lastDigest = this.#contents.digest
    this.#validity = this.#checked(this.#contents)
  }

  /** The contents in use. A new object after each change. */
  get material(): TlsMaterial {
    return this.#contents
  }

  get validity(): Validity {
    return this.#validity
  }

  /** The files differ from the contents in use, and cannot be used. */
  get isStale(): boolean {
    return this.#isStale
  }

  watch(watch: CertificateWatch): void {
    if (this.#stopped) return
    WATCHED.set(this, watch)
    this.#timer = watch.clock.after(LOOK_EVERY_MS, () => {
      void this.look(watch).then(() => this.watch(watch))
    })
  }

  stop(): void {
    this.#stopped = true
    WATCHED.delete(this)
    this.#timer?.cancel()
  }

  /** True when other contents are in use now. Throws StartError once for contents that cannot be used. */
  async reload(nowMs: number): Promise<boolean> {
    const pieces = await Promise.all(
      this.#paths().map((path) => readFile(path).catch((cause: unknown) => this.#unreadable(path, cause))),
    )
    const failure = pieces.find((piece) => piece instanceof StartError)
    const contents = this.#digested(
      pieces.map((piece) => (piece instanceof StartError ? Buffer.of() : piece)),
    )
    if (contents.digest === this.#lastDigest) return false
    this.#lastDigest = contents.digest
    this.#isStale = contents.digest !== this.#contents.digest
    if (!this.#isStale) return false
    if (failure !== undefined) throw failure
    const validity = this.#checked(contents)
    if (validity.certificateEndsAt <= nowMs) throw this.#ended(validity)
    this.#contents = contents
    this.#validity = validity
    this.#isStale = false
    return true
  }

  /** Takes over what has changed, and logs it. Never rejects. */
  async look({ clock, logger, onChange }: CertificateWatch): Promise<void> {
    const { use } = this.#options
    try {
      if (!(await this.reload(clock.wallTime())) || this.#stopped) return
      onChange()
      logger.info({ use, until: this.#validity.until }, 'new certificate in use')
    } catch (err) {
      logger.error({ use, err }, 'new certificate cannot be used, the previous one stays')
    }
  }

  #paths(): readonly string[] {
    const { ca, cert, key } = this.#options.files
    return ca === null ? [cert, key] : [cert, key, ca]
  }

  #digested([cert = Buffer.of(), key = Buffer.of(), ca]: readonly Buffer[]): Contents {
    const hash = createHash('sha256')
    for (const piece of [cert, key, ca ?? Buffer.of()]) hash.update(`${piece.length} `).update(piece)
    return { cert, key, ...(ca === undefined ? {} : { ca }), digest: hash.digest('hex') }
  }

  #checked({ cert, key, ca }: TlsMaterial): Validity {
    const { files, accept } = this.#options
    const certificate = this.#parsed(files.cert, 'PEM certificate', () => new X509Certificate(cert))
    const privateKey = this.#parsed(files.key, 'PEM private key', () => createPrivateKey(key))
    if (!certificate.checkPrivateKey(privateKey))
      throw this.#invalid(`the key in '${files.key}' does not belong to the certificate in '${files.cert}'`)
    const authorities =
      ca === undefined ? [] : this.#parsed(files.ca ?? '', 'PEM certificate', () => allOf(ca))
    this.#parsed(files.cert, 'certificate and key that TLS accepts', () => createSecureContext({ cert, key }))
    accept?.(certificate)
    return {
      until: certificate.validTo,
      certificateEndsAt: endOf(certificate),
      authorityEndsAt: ca === undefined ? null : Math.min(...authorities.map(endOf)),
    }
  }

  #parsed<T>(path: string, what: string, parse: () => T): T {
    try {
      return parse()
    } catch (cause) {
      throw this.#invalid(`'${path}' contains no ${what}`, cause)
    }
  }

  #reading<T>(path: string, read: () => T): T {
    try {
      return read()
    } catch (cause) {
      throw this.#unreadable(path, cause)
    }
  }

  #unreadable(path: string, cause: unknown): StartError {
    const { code, use } = this.#options
    const hint = 'Check the path and that the user of this process may read the file.'
    return new StartError(`${code}_unreadable`, `Cannot read '${path}' for ${use}`, { cause, hint })
  }

  #invalid(why: string, cause?: unknown): StartError {
    const { code, use } = this.#options
    const hint =
      'Give a certificate and its own key as PEM files; `holdfast certs show FILE` shows the contents of one.'
    return new StartError(`${code}_invalid`, `Cannot set up ${use}: ${why}`, { cause, hint })
  }

  #ended({ until }: Validity): StartError {
    const { code, use, files } = this.#options
    const message = `Cannot use '${files.cert}' for ${use}: it expired at ${until}`
    const hint = 'Put a valid certificate there, and check the clock of this machine.'
    return new StartError(`${code}_ended`, message, { hint })
  }
}

const endOf = (certificate: X509Certificate): number => certificate.validToDate.getTime()

function allOf(pem: Buffer): readonly X509Certificate[] {
  const blocks = pem.toString('latin1').match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g)
  return (blocks ?? [pem]).map((block) => new X509Certificate(block))
}
