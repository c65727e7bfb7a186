import sys; sys.path.insert(0,'tests/sim'); sys.path.insert(0,'tests')
import ctypes,subprocess,test_tiling as t,pathlib,tempfile
ROOT=pathlib.Path('.').resolve()
f=pathlib.Path(tempfile.mkdtemp()); (f/'s.cpp').write_text(t.SHIM)
h=ROOT/'op_host'
src=[str(f/'s.cpp'),*(str(h/'common'/f'row_reduce_{x}.cpp') for x in ("chunks","planner","sharing","tiling","whole")),str(h/'scaled_masked_softmax_grad_v2/row_mask_tiling.cpp')]
subprocess.run(['g++','-std=c++17','-O1','-fPIC','-shared',f'-I{h}',*src,'-o',str(f/'s.so')],check=True)
lib=ctypes.CDLL(str(f/'s.so'))
plan=t.plan.__wrapped__(lib) if hasattr(t.plan,'__wrapped__') else t.plan.__pytest_wrapped__.obj(lib)
def lim(pred,lo,hi,step=1):
    best=0
    for n in range(lo,hi,step):
        if pred(n): best=n
    return best
for size in (4,2):
    for big in (10,10**5):
        print(size,big,'rows%8==0 path1', lim(lambda n: plan((big,n),-1,size).path==1,64,12000,8), 'odd path1/6', lim(lambda n: plan((big,n),-1,size).path in(1,6),65,12000,2), 'odd 6', lim(lambda n: plan((big,n),-1,size).path==6,65,12000,2))
    print(size,'short odd', [n for n in range(2,65) if plan((10**5,n),-1,size).path==5])
    print(size,'slabs3', lim(lambda n: plan((8,n,64*4//size),1,size).path==3,1,400), 'short slab B=3', lim(lambda n: plan((1000,n,3),1,size).path==5,1,400), 'B=4', lim(lambda n: plan((1000,n,4),1,size).path==5,1,400),'B=7', lim(lambda n: plan((1000,n,7),1,size).path==5,1,400), 'B=12', lim(lambda n: plan((1000,n,12),1,size).path==5,1,400))
    print(size,'folded whole elements B=3', 3*lim(lambda n: plan((1000,n,3),1,size).path==3,1,5000),'B=63', 63*lim(lambda n: plan((1000,n,63),1,size).path==3,1,500))
