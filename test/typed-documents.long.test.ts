import { PAGES, typePages } from './typed-documents.ts'

/** Every page. The short form, typed-documents.test.ts, types the first one that a newcomer reads. */
typePages(PAGES)
