import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { type Options, parse } from 'csv-parse'

const CHUNK_BYTES = 64 * 1024

/** The records of the first `end` octets of a CSV file, one at a time. The file stays open, and may be read again. */
export async function* streamCsv<Row>(
  file: FileHandle,
  options: Options,
  end = Number.POSITIVE_INFINITY,
): AsyncGenerator<Row> {
  const source = Readable.from(chunks(file, end))
  const parser = source.pipe(parse(options))
  source.on('error', (error) => parser.destroy(error))
  try {
    yield* parser as AsyncIterable<Row>
  } finally {
    source.destroy()
  }
}

async function* chunks(file: FileHandle, end: number): AsyncGenerator<Buffer> {
  for (let position = 0; position < end; ) {
    const length = Math.min(CHUNK_BYTES, end - position)
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, position)
    if (bytesRead === 0) return
    position += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}
