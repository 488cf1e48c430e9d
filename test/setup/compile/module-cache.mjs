import vm from 'node:vm';

// Compiles each module once per process. Without this, Jest compiles every module anew for each test file, which takes it a fifth of a
// second. Node loads this file before Jest.

/** V8's code caches by identifier, with the sources. */
const caches = new Map();
/** The word of a dynamic import. In cached code, V8 would have the imports made by the test file that compiled the code. */
const DYNAMIC_IMPORT = /(?<![.#\w$])import(?=\s*\()/g;

vm.SourceTextModule = new Proxy(vm.SourceTextModule, {
  construct(SourceTextModule, [original, options]) {
    const { identifier, initializeImportMeta, importModuleDynamically } = options;
    // Leaves our own files alone, because strings in tests contain imports.
    const isPackage = identifier.includes('/node_modules/');
    const source = isPackage ? original.replace(DYNAMIC_IMPORT, 'import.meta.load') : original;
    const compile = (cachedData) =>
      new SourceTextModule(source, {
        ...options,
        cachedData,
        initializeImportMeta: (meta, module) => {
          initializeImportMeta?.(meta, module);
          meta.load = async (specifier) => (await importModuleDynamically(specifier, module)).namespace;
        },
      });
    const known = caches.get(identifier);
    if (known?.source === source) {
      try {
        return compile(known.cachedData);
      } catch (error) {
        // V8 rejects a cache once its flags have changed, as by `v8.setFlagsFromString`.
        if (error.code !== 'ERR_VM_MODULE_CACHED_DATA_REJECTED') throw error;
      }
    }
    const module = compile();
    if (isPackage || source.search(DYNAMIC_IMPORT) < 0)
      caches.set(identifier, { source, cachedData: module.createCachedData() });
    return module;
  },
});
